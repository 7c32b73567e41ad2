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
	outputs outputs

	// mu guards inputs; it is held for writing only while an input update is put in force, which is done under
	// Database.mu, so that who holds that may read as well.
	mu     sync.RWMutex
	inputs []*dependent[T] // in the order in which they were given last; nil before the first ones
	// finder finds among them without the lock; nil before the first ones.
	finder atomic.Pointer[finder[T]]

	room room[T]
}

// room is for what a controller declares first, which is mostly little and mostly stays: a part of the node, since each
// thing that is allocated takes its time when thousands of controllers are registered. Once in force, nothing of it is used
// again, since somebody may be reading it; guarded by Database.mu.
type room[T any] struct {
	dependents [2]dependent[T]
	inputs     [2]*dependent[T]
	finder     finder[T]
	outputs    [1]controller.Output
}

// Name returns the name of the controller.
func (n *Node[T]) Name() string { return n.name }

// Target returns what was registered to receive changes.
func (n *Node[T]) Target() T { return n.target }

// Writes tells whether resources of the type are outputs of the controller. After its removal none are.
func (n *Node[T]) Writes(typ resource.Type) bool {
	return n.outputs.contain(typ) && !n.removed.Load()
}

// ReadsKind tells whether the controller may list the kind: it is an input as a whole, or its type an output.
func (n *Node[T]) ReadsKind(kind reduced.Kind) bool {
	if n.Writes(kind.Type) {
		return true
	}

	whole, _ := n.find(&reduced.Key{Kind: kind})

	return whole != nil
}

// Reads tells whether the controller may read the resource: it is an input by kind or by id, or its type an output.
func (n *Node[T]) Reads(key reduced.Key) bool {
	if n.Writes(key.Type) {
		return true
	}

	whole, one := n.find(&key)

	return whole != nil || one != nil
}

// Holds tells whether the controller may add and remove finalizers on the resource: it is a strong input, or an input
// of a queue controller.
func (n *Node[T]) Holds(key reduced.Key) bool {
	whole, one := n.find(&key)

	return holds(whole) || holds(one)
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

// Outputs returns the types of the outputs, in order.
func (n *Node[T]) Outputs() []resource.Type {
	types := make([]resource.Type, 0, len(n.outputs.list))
	for _, out := range n.outputs.list {
		types = append(types, out.Type)
	}

	return types
}

// Inputs returns the inputs in force, in the order of [controller.Input.Compare], which takes an input by the empty id for
// one on the whole kind: that comes first.
func (n *Node[T]) Inputs() []controller.Input {
	n.mu.RLock()
	defer n.mu.RUnlock()

	inputs := slices.Grow([]controller.Input(nil), len(n.inputs))
	for _, d := range n.inputs {
		inputs = append(inputs, d.input)
	}

	slices.SortFunc(inputs, func(a, b controller.Input) int {
		if order := a.Compare(b); order != 0 || a.ID == b.ID {
			return order
		}

		if a.ID.IsPresent() {
			return 1
		}

		return -1
	})

	return inputs
}

// Primary returns which resources of the kind are primary inputs: all, or those with the ids, which are in order.
func (n *Node[T]) Primary(kind reduced.Kind) (whole bool, ids []resource.ID) {
	n.mu.RLock()
	defer n.mu.RUnlock()

	for _, d := range n.inputs {
		if d.input.Kind != controller.InputQPrimary || d.kind() != kind {
			continue
		}

		id, byID := d.input.ID.Get()
		if !byID {
			return true, nil
		}

		ids = append(ids, id)
	}

	slices.Sort(ids)

	return false, ids
}

// Kinds returns the kinds of the inputs in force, in order, each once.
func (n *Node[T]) Kinds() []reduced.Kind {
	n.mu.RLock()
	defer n.mu.RUnlock()

	kinds := make([]reduced.Kind, 0, min(len(n.inputs), handful))

	for _, d := range n.inputs {
		if kind := d.kind(); len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}

	slices.SortFunc(kinds, reduced.Kind.Compare)

	return slices.Compact(kinds)
}

// Woken appends the kinds of the inputs to a slice, in any order, if there are no more than some eight and none of them needs known
// keys to be tracked; else it returns false.
func (n *Node[T]) Woken(kinds []reduced.Kind) (all []reduced.Kind, ok bool) {
	f := n.finder.Load()
	if f == nil || f.many != nil {
		return kinds, false
	}

	for _, d := range f.few {
		if tracks(d.input.Kind) {
			return kinds, false
		}

		kinds = append(kinds, d.kind())
	}

	return kinds, true
}

// inOrder orders nodes by their registration, under Database.mu.
func inOrder[T any](a, b *Node[T]) int { return cmp.Compare(a.at, b.at) }
