package dependency

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// together is how many new dependents are allocated at most in one piece, which stays while one of them does.
const together = 4

// update is a checked change of a controller's inputs that waits to be put in force: those from one position to another
// are replaced.
type update[T any] struct {
	from, to int
	with     []*dependent[T]

	// fresh are those of with that are new, in order, and drop those that go.
	fresh, drop []*dependent[T]
	// room is for further ones.
	room []dependent[T]
	// keys are those of fresh, once there are more than can be looked through.
	keys map[controller.Input]struct{}
}

// plan checks inputs and works out what is new among them. Inputs are mostly given in the order of the last time, with
// few changes. So they are compared by position, and only what is not found in its place is looked up and checked.
func (db *Database[T]) plan(node *Node[T], form Form, inputs []controller.Input) (update[T], error) {
	old := node.inputs
	shorter := min(len(old), len(inputs))

	head := 0
	for head < shorter && old[head].input == inputs[head] {
		head++
	}

	tail := 0
	for tail < shorter-head && old[len(old)-1-tail].input == inputs[len(inputs)-1-tail] {
		tail++
	}

	u := update[T]{from: head, to: len(old) - tail}
	old, inputs = old[head:u.to], inputs[head:len(inputs)-tail]

	if len(old) == 0 && len(inputs) == 0 {
		return u, nil
	}

	u.settle(node, len(inputs))
	moved := u.align(old, inputs)

	// Those that were given elsewhere, or not any more, can be taken; all others have their place already.
	for _, d := range moved {
		d.moved = true
	}

	defer func() {
		for _, d := range moved {
			d.moved = false
		}
	}()

	for i, in := range inputs {
		if u.with[i] != nil {
			continue
		}

		if err := checkInput(node.name, form, in); err != nil {
			return u, err
		}

		d := node.declared(in)
		if d != nil && !d.moved || d == nil && u.twice(in) {
			return u, duplicate(node.name, in)
		}

		if d != nil {
			d.moved = false
		}

		switch {
		case d == nil:
			u.add(i, u.dependent(node, in, len(inputs)-i))
		case d.input.Kind == in.Kind:
			u.with[i] = d
		default:
			u.add(i, u.dependent(node, in, len(inputs)-i))
			u.drop = append(u.drop, d)
		}
	}

	for _, d := range moved {
		if d.moved {
			u.drop = append(u.drop, d)
		}
	}

	return u, nil
}

// settle finds the room for what is given: that of the node where it is the first and little.
func (u *update[T]) settle(node *Node[T], count int) {
	if node.inputs != nil || count > len(node.room.inputs) {
		u.with = make([]*dependent[T], count)

		return
	}

	u.with, u.room = node.room.inputs[:count:count], node.room.dependents[:]
	clear(u.with) // of inputs that were refused
}

// align puts the inputs that have stayed in order into their places, and returns those of the old ones that have not.
func (u *update[T]) align(old []*dependent[T], inputs []controller.Input) (moved []*dependent[T]) {
	i, j := 0, 0

	for i < len(inputs) && j < len(old) {
		switch {
		case old[j].input == inputs[i]:
			u.with[i] = old[j]
			i++
			j++
		case j+1 < len(old) && old[j+1].input == inputs[i]: // one was taken out
			moved = append(moved, old[j])
			j++
		case i+1 < len(inputs) && old[j].input == inputs[i+1]: // one was put in
			i++
		default:
			moved = append(moved, old[j])
			i++
			j++
		}
	}

	return append(moved, old[j:]...)
}

// dependent returns a new one, of which there are to be no more than so many.
func (u *update[T]) dependent(node *Node[T], in controller.Input, most int) *dependent[T] {
	if len(u.room) == 0 {
		u.room = make([]dependent[T], min(most, together))
	}

	d := &u.room[0]
	d.node, d.input = node, in
	u.room = u.room[1:]

	return d
}

func (u *update[T]) add(at int, d *dependent[T]) {
	u.with[at] = d

	if len(u.fresh) == at {
		u.fresh = u.with[: at+1 : at+1] // all are new so far
	} else {
		u.fresh = append(u.fresh, d)
	}

	if u.keys != nil {
		u.keys[keyOf(d.input)] = struct{}{}
	}
}

// twice tells whether the input is among the new ones already.
func (u *update[T]) twice(in controller.Input) bool {
	if len(u.fresh) <= handful {
		return slices.ContainsFunc(u.fresh, func(d *dependent[T]) bool { return d.input.EqualKeys(in) })
	}

	if u.keys == nil {
		u.keys = make(map[controller.Input]struct{}, len(u.with))

		for _, d := range u.fresh {
			u.keys[keyOf(d.input)] = struct{}{}
		}
	}

	_, twice := u.keys[keyOf(in)]

	return twice
}

func (d *dependent[T]) kind() reduced.Kind { return kindOf(d.input) }

func kindOf(in controller.Input) reduced.Kind {
	return reduced.Kind{Namespace: in.Namespace, Type: in.Type}
}

// keyOf returns what two inputs of one controller must not have in common.
func keyOf(in controller.Input) controller.Input {
	in.Kind = 0

	return in
}

func duplicate(name string, in controller.Input) error {
	return &DeclarationError{
		Reason: ErrDuplicateInput, Controller: name, Resource: describeInput(in),
		Hint: "namespace, type and id of an input occur once per controller",
	}
}

func checkInput(name string, form Form, in controller.Input) error {
	hint := ""

	switch in.Kind {
	case controller.InputWeak, controller.InputStrong, controller.InputDestroyReady:
		if form == Queue {
			hint = "a queue controller takes InputQPrimary, InputQMapped and InputQMappedDestroyReady"
		}
	case controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady:
		if form == Classic {
			hint = "a classic controller takes InputWeak, InputStrong and InputDestroyReady"
		}
	default:
		hint = "use one of the input kinds of the contract"
	}

	if in.Type == "" {
		hint = "give the resource type"
	}

	if hint == "" {
		return nil
	}

	return &DeclarationError{Reason: ErrInvalidInput, Controller: name, Resource: describeInput(in), Hint: hint}
}

// commit puts a planned update in force. What is new may be read before anybody is woken for it, and is routed before what is not
// declared any more is not.
func (db *Database[T]) commit(node *Node[T], u update[T]) {
	if u.from == u.to && len(u.with) == 0 {
		return
	}

	node.mu.Lock()
	defer node.mu.Unlock()

	if u.to-u.from == len(node.inputs) {
		node.inputs = u.with
	} else {
		if f := node.finder.Load(); f != nil && f.many == nil {
			node.inputs = slices.Clone(node.inputs) // somebody may be reading
		}

		node.inputs = slices.Replace(node.inputs, u.from, u.to, u.with...)
	}

	if cap(node.inputs) > 4*max(len(node.inputs), handful) {
		node.inputs = slices.Clone(node.inputs)
	}

	node.reindex(u.fresh, u.drop)

	for _, d := range u.fresh {
		db.link(d)
	}

	for _, d := range u.drop {
		db.unlink(d)
	}
}

// kinds returns the kinds on which something is new or gone, in order.
func (u *update[T]) kinds() []reduced.Kind {
	var kinds []reduced.Kind

	for _, changed := range [][]*dependent[T]{u.fresh, u.drop} {
		for _, d := range changed {
			if kind := d.kind(); len(kinds) == 0 || kinds[len(kinds)-1] != kind {
				kinds = append(kinds, kind)
			}
		}
	}

	slices.SortFunc(kinds, reduced.Kind.Compare)

	return slices.Compact(kinds)
}
