package dependency

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// handful is how many declarations of one controller are looked through one by one. Most controllers have fewer, for which
// a map would be the larger part of their memory.
const handful = 8

// finder finds the inputs of one controller, for its guards. It does not change: an update of the inputs makes another one,
// which has in common with it what stays.
type finder[T any] struct {
	few  []*dependent[T] // nil while the inputs are many
	many *inputIndex[T]  // nil while they are few
}

// inputIndex finds the inputs of one controller where they are many.
type inputIndex[T any] struct {
	kinds layered[reduced.Kind, kindInputs[T]]
	// last is the kind that was entered last: many inputs are mostly of one kind, and comparing is faster than hashing.
	last *kindInputs[T]
	// made numbers the indexes of a controller.
	made uint64
}

// kindInputs are the inputs of one controller on one kind.
type kindInputs[T any] struct {
	made  uint64 // the index that they were made for, and others after it have in common with it
	kind  reduced.Kind
	whole *dependent[T]
	ids   layered[resource.ID, dependent[T]]
}

// of returns the inputs on a kind, or nil.
func (x *inputIndex[T]) of(kind reduced.Kind) *kindInputs[T] {
	if last := x.last; last != nil && last.kind.Type == kind.Type && last.kind.Namespace == kind.Namespace {
		return last
	}

	return x.kinds.find(kind)
}

// find returns the inputs that a resource matches: on its kind as a whole, and by its id.
func (n *Node[T]) find(key *reduced.Key) (whole, one *dependent[T]) {
	f := n.finder.Load()
	if f == nil {
		return nil, nil
	}

	if f.many != nil {
		if k := f.many.of(key.Kind); k != nil {
			return k.whole, k.ids.find(key.ID)
		}

		return nil, nil
	}

	for _, d := range f.few {
		if d.input.Type != key.Type || d.input.Namespace != key.Namespace {
			continue
		}

		if id, byID := d.input.ID.Get(); !byID {
			whole = d
		} else if id == key.ID {
			one = d
		}
	}

	return whole, one
}

// declared returns the input of the same key.
func (n *Node[T]) declared(in controller.Input) *dependent[T] {
	whole, one := n.find(&reduced.Key{Kind: kindOf(in), ID: in.ID.ValueOrZero()})
	if in.ID.IsPresent() {
		return one
	}

	return whole
}

// reindex follows a change of the inputs, under Database.mu.
func (n *Node[T]) reindex(added, removed []*dependent[T]) {
	old := n.finder.Load()

	if len(n.inputs) <= handful {
		next := &n.room.finder
		if old != nil {
			next = &finder[T]{} // somebody may be reading the first one
		}

		next.few = n.inputs
		n.finder.Store(next)

		return
	}

	var many *inputIndex[T]

	if old != nil && old.many != nil {
		many = old.many.with(added, removed)
	} else {
		many = (&inputIndex[T]{}).with(n.inputs, nil)
	}

	n.finder.Store(&finder[T]{many: many})
}

// with returns an index with some inputs more, and some less. The answer for a key that was added stays where an input of the same
// key is removed.
func (x *inputIndex[T]) with(added, removed []*dependent[T]) *inputIndex[T] {
	next := &inputIndex[T]{made: x.made + 1, kinds: x.kinds.clone(), last: x.last}

	for _, d := range added {
		k := next.own(d.kind())

		if id, byID := d.input.ID.Get(); byID {
			k.ids.put(id, d)
		} else {
			k.whole = d
		}
	}

	for _, d := range removed {
		k := next.own(d.kind())

		if id, byID := d.input.ID.Get(); byID {
			k.ids.remove(id, d)
		} else if k.whole == d {
			k.whole = nil
		}
	}

	next.settle()

	return next
}

// own returns the inputs on a kind, which no other index has.
func (x *inputIndex[T]) own(kind reduced.Kind) *kindInputs[T] {
	k := x.of(kind)

	switch {
	case k == nil:
		k = &kindInputs[T]{made: x.made, kind: kind}
	case k.made != x.made:
		k = &kindInputs[T]{made: x.made, kind: kind, whole: k.whole, ids: k.ids.clone()}
	default:
		return k
	}

	x.kinds.put(kind, k)
	x.last = k

	return k
}

// settle ends the change of what is the index's own. Where a kind has become much smaller, what it was is not kept.
func (x *inputIndex[T]) settle() {
	shrunk := false

	for kind, k := range x.kinds.changed {
		if k == nil || k.made != x.made {
			continue
		}

		if k.ids.settle() {
			shrunk = true
		}

		if k.whole == nil && k.ids.count == 0 {
			x.kinds.remove(kind, k)

			if x.last == k {
				x.last = nil
			}
		}
	}

	x.kinds.settle()

	if shrunk {
		x.kinds.merge()
	}
}
