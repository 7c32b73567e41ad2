package dependency

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Node is one registered controller: its declarations, and the target that changes are delivered to. The questions
// it answers take constant time and may be asked from any goroutine.
type Node[T any] struct {
	target T

	// The marks remember what was handed over: that of the batch, of the run of one kind, and of the single change that
	// are being routed. They are owned by whoever routes.
	woken, run, single uint64
	runLanes, lanes    lane

	// removed tells that the controller was forgotten; what is still running of it has no outputs any more.
	removed atomic.Bool

	name    string
	at      int // in the order of registration; guarded by Database.mu
	outputs table[resource.Type, controller.OutputKind]

	// mu guards inputs and kinds; it is held for writing only while an input update is put in force, which is done under
	// Database.mu, so that who holds that may read as well.
	mu     sync.RWMutex
	inputs []*dependent[T] // in the order in which they were given last
	kinds  table[reduced.Kind, *kindInputs[T]]
}

// kindInputs are the inputs of one controller on one kind.
type kindInputs[T any] struct {
	whole *dependent[T]
	ids   table[resource.ID, *dependent[T]]
}

// Name returns the name of the controller.
func (n *Node[T]) Name() string { return n.name }

// Target returns what was registered to receive changes.
func (n *Node[T]) Target() T { return n.target }

// Writes tells whether resources of the type are outputs of the controller. After its removal none are.
func (n *Node[T]) Writes(typ resource.Type) bool {
	_, ok := n.outputs.lookup(typ)

	return ok && !n.removed.Load()
}

// ReadsKind tells whether the controller may list the kind: it is an input as a whole, or its type an output.
func (n *Node[T]) ReadsKind(kind reduced.Kind) bool {
	if n.Writes(kind.Type) {
		return true
	}

	n.mu.RLock()
	defer n.mu.RUnlock()

	k := n.kinds.get(kind)

	return k != nil && k.whole != nil
}

// Reads tells whether the controller may read the resource: it is an input by kind or by id, or its type an output.
func (n *Node[T]) Reads(key reduced.Key) bool {
	if n.Writes(key.Type) {
		return true
	}

	n.mu.RLock()
	defer n.mu.RUnlock()

	k := n.kinds.get(key.Kind)

	return k != nil && (k.whole != nil || k.ids.get(key.ID) != nil)
}

// Holds tells whether the controller may add and remove finalizers on the resource: it is a strong input, or an input
// of a queue controller.
func (n *Node[T]) Holds(key reduced.Key) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()

	k := n.kinds.get(key.Kind)

	return k != nil && (holds(k.whole) || holds(k.ids.get(key.ID)))
}

func holds[T any](d *dependent[T]) bool {
	if d == nil {
		return false
	}

	switch d.input.Kind {
	case controller.InputStrong, controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady:
		return true
	default:
		return false
	}
}

// Inputs returns the inputs in force, in the order of [controller.Input.Compare].
func (n *Node[T]) Inputs() []controller.Input {
	n.mu.RLock()
	defer n.mu.RUnlock()

	inputs := slices.Grow([]controller.Input(nil), len(n.inputs))
	for _, d := range n.inputs {
		inputs = append(inputs, d.input)
	}

	slices.SortFunc(inputs, controller.Input.Compare)

	return inputs
}

// Primary returns which resources of the kind are primary inputs: all, or those with the ids, which are in order.
func (n *Node[T]) Primary(kind reduced.Kind) (whole bool, ids []resource.ID) {
	n.mu.RLock()
	defer n.mu.RUnlock()

	k := n.kinds.get(kind)

	switch {
	case k == nil:
		return false, nil
	case k.whole != nil && k.whole.input.Kind == controller.InputQPrimary:
		return true, nil
	}

	for _, id := range k.ids.keys() {
		if k.ids.get(id).input.Kind == controller.InputQPrimary {
			ids = append(ids, id)
		}
	}

	slices.Sort(ids)

	return false, ids
}

// Kinds returns the kinds of the inputs in force, in order, each once.
func (n *Node[T]) Kinds() []reduced.Kind {
	n.mu.RLock()
	defer n.mu.RUnlock()

	kinds := n.kinds.keys()
	slices.SortFunc(kinds, reduced.Kind.Compare)

	return kinds
}

// inOrder orders nodes by their registration, under Database.mu.
func inOrder[T any](a, b *Node[T]) int { return cmp.Compare(a.at, b.at) }

func (n *Node[T]) find(in controller.Input) *dependent[T] {
	k := n.kinds.get(kindOf(in))
	if k == nil {
		return nil
	}

	if id, byID := in.ID.Get(); byID {
		return k.ids.get(id)
	}

	return k.whole
}

// add makes a new input answer for its key, in place of the one that did before.
func (n *Node[T]) add(d *dependent[T]) {
	kind := kindOf(d.input)

	k := n.kinds.get(kind)
	if k == nil {
		k = &kindInputs[T]{}
		n.kinds.set(kind, k)
	}

	if id, byID := d.input.ID.Get(); byID {
		k.ids.set(id, d)
	} else {
		k.whole = d
	}
}

// remove takes an input away, unless another one answers for its key by now.
func (n *Node[T]) remove(d *dependent[T]) {
	if n.find(d.input) != d {
		return
	}

	kind := kindOf(d.input)
	k := n.kinds.get(kind)

	if id, byID := d.input.ID.Get(); byID {
		k.ids.remove(id)
	} else {
		k.whole = nil
	}

	if k.whole == nil && k.ids.len() == 0 {
		n.kinds.remove(kind)
	}
}
