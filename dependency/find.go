package dependency

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// handful is how many declarations of one controller are looked through one by one. Most controllers have fewer, for which
// a map would be the larger part of their memory.
const handful = 8

// inputIndex finds the inputs of one controller where they are many.
type inputIndex[T any] struct {
	kinds map[reduced.Kind]*kindInputs[T]
	// last is the kind that was entered last: many inputs are mostly of one kind, and comparing is faster than hashing.
	last *kindInputs[T]
}

// kindInputs are the inputs of one controller on one kind.
type kindInputs[T any] struct {
	kind  reduced.Kind
	whole *dependent[T]
	ids   map[resource.ID]*dependent[T]
}

// of returns the inputs on a kind, or nil.
func (x *inputIndex[T]) of(kind reduced.Kind) *kindInputs[T] {
	if last := x.last; last != nil && last.kind == kind {
		return last
	}

	return x.kinds[kind]
}

// match is find without the lock, which it takes itself where the inputs are many.
func (n *Node[T]) match(key reduced.Key) (whole, one *dependent[T]) {
	if few := n.few.Load(); few != nil {
		return find(*few, key)
	}

	n.mu.RLock()
	defer n.mu.RUnlock()

	return n.find(key)
}

// find returns the inputs that a resource matches: on its kind as a whole, and by its id.
func (n *Node[T]) find(key reduced.Key) (whole, one *dependent[T]) {
	if n.index == nil {
		return find(n.inputs, key)
	}

	k := n.index.of(key.Kind)
	if k == nil {
		return nil, nil
	}

	return k.whole, k.ids[key.ID]
}

func find[T any](inputs []*dependent[T], key reduced.Key) (whole, one *dependent[T]) {
	for _, d := range inputs {
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
	whole, one := n.find(reduced.Key{Kind: kindOf(in), ID: in.ID.ValueOrZero()})
	if in.ID.IsPresent() {
		return one
	}

	return whole
}

// reindex follows a change of the inputs.
func (n *Node[T]) reindex(added, removed []*dependent[T]) {
	switch {
	case len(n.inputs) <= handful:
		n.show(n.inputs)
		n.index = nil

		return
	case n.index == nil:
		n.index, added, removed = &inputIndex[T]{kinds: map[reduced.Kind]*kindInputs[T]{}}, n.inputs, nil
	}

	n.few.Store(nil)

	for _, d := range added {
		n.index.add(d)
	}

	for _, d := range removed {
		n.index.remove(d)
	}
}

// show lets inputs that are few, and not nil, be read without the lock.
func (n *Node[T]) show(inputs []*dependent[T]) {
	few := &n.room.few
	if *few != nil {
		few = new([]*dependent[T]) // somebody may be reading the first ones
	}

	*few = inputs
	n.few.Store(few)
}

func (x *inputIndex[T]) add(d *dependent[T]) {
	k := x.of(d.kind())
	if k == nil {
		k = &kindInputs[T]{kind: d.kind()}
		x.kinds[k.kind] = k
	}

	x.last = k

	id, byID := d.input.ID.Get()
	if !byID {
		k.whole = d

		return
	}

	if k.ids == nil {
		k.ids = map[resource.ID]*dependent[T]{}
	}

	k.ids[id] = d
}

// remove takes an input away, unless another one answers for its key by now.
func (x *inputIndex[T]) remove(d *dependent[T]) {
	k := x.of(d.kind())

	if id, byID := d.input.ID.Get(); byID && k.ids[id] == d {
		delete(k.ids, id)
	} else if !byID && k.whole == d {
		k.whole = nil
	}

	if k.whole == nil && len(k.ids) == 0 {
		delete(x.kinds, k.kind)

		if x.last == k {
			x.last = nil
		}
	}
}
