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
	name    string
	target  T
	outputs map[resource.Type]controller.OutputKind
	order   uint64

	// removed tells that the controller was forgotten; what is still running of it has no outputs any more.
	removed atomic.Bool

	// mu guards kinds; it is held for writing only while an input update is put in force.
	mu    sync.RWMutex
	kinds map[reduced.Kind]*kindInputs[T]

	// The marks remember what was handed over: that of the batch, of the run of one kind, and of the single change that
	// are being routed. They are owned by whoever routes.
	woken, run, single uint64
	runLanes, lanes    lane
}

// kindInputs are the inputs of one controller on one kind.
type kindInputs[T any] struct {
	whole *dependent[T]
	ids   map[resource.ID]*dependent[T]
}

func (k *kindInputs[T]) find(id resource.ID, byID bool) *dependent[T] {
	if byID {
		return k.ids[id]
	}

	return k.whole
}

// Name returns the name of the controller.
func (n *Node[T]) Name() string { return n.name }

// Target returns what was registered to receive changes.
func (n *Node[T]) Target() T { return n.target }

// Writes tells whether resources of the type are outputs of the controller. After its removal none are.
func (n *Node[T]) Writes(typ resource.Type) bool {
	_, ok := n.outputs[typ]

	return ok && !n.removed.Load()
}

// ReadsKind tells whether the controller may list the kind: it is an input as a whole, or its type an output.
func (n *Node[T]) ReadsKind(kind reduced.Kind) bool {
	if n.Writes(kind.Type) {
		return true
	}

	n.mu.RLock()
	defer n.mu.RUnlock()

	k, ok := n.kinds[kind]

	return ok && k.whole != nil
}

// Reads tells whether the controller may read the resource: it is an input by kind or by id, or its type an output.
func (n *Node[T]) Reads(key reduced.Key) bool {
	if n.Writes(key.Type) {
		return true
	}

	n.mu.RLock()
	defer n.mu.RUnlock()

	k, ok := n.kinds[key.Kind]
	if !ok {
		return false
	}

	return k.whole != nil || k.ids[key.ID] != nil
}

// Holds tells whether the controller may add and remove finalizers on the resource: it is a strong input, or an input
// of a queue controller.
func (n *Node[T]) Holds(key reduced.Key) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()

	k, ok := n.kinds[key.Kind]
	if !ok {
		return false
	}

	return holds(k.whole) || holds(k.ids[key.ID])
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

	var inputs []controller.Input

	for _, k := range n.kinds {
		if k.whole != nil {
			inputs = append(inputs, k.whole.input)
		}

		for _, d := range k.ids {
			inputs = append(inputs, d.input)
		}
	}

	slices.SortFunc(inputs, controller.Input.Compare)

	return inputs
}

// Primary returns which resources of the kind are primary inputs: all, or those with the ids, which are in order.
func (n *Node[T]) Primary(kind reduced.Kind) (whole bool, ids []resource.ID) {
	n.mu.RLock()
	defer n.mu.RUnlock()

	k, ok := n.kinds[kind]
	if !ok {
		return false, nil
	}

	if k.whole != nil && k.whole.input.Kind == controller.InputQPrimary {
		return true, nil
	}

	for id, d := range k.ids {
		if d.input.Kind == controller.InputQPrimary {
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

	kinds := make([]reduced.Kind, 0, len(n.kinds))

	for kind := range n.kinds {
		kinds = append(kinds, kind)
	}

	slices.SortFunc(kinds, reduced.Kind.Compare)

	return kinds
}

// inOrder orders nodes by their registration.
func inOrder[T any](a, b *Node[T]) int { return cmp.Compare(a.order, b.order) }

func (n *Node[T]) find(in controller.Input) *dependent[T] {
	k, ok := n.kinds[reduced.Kind{Namespace: in.Namespace, Type: in.Type}]
	if !ok {
		return nil
	}

	id, byID := in.ID.Get()

	return k.find(id, byID)
}
