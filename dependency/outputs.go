package dependency

import (
	"cmp"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// outputs are those of one controller, in order of type. They do not change once it is registered.
type outputs struct {
	list []controller.Output
	// types are those of the list where they are many.
	types map[resource.Type]struct{}
}

func (o *outputs) contain(typ resource.Type) bool {
	if o.types != nil {
		_, ok := o.types[typ]

		return ok
	}

	for i := range o.list {
		if o.list[i].Type == typ {
			return true
		}
	}

	return false
}

// declare takes the outputs, and keeps them in the room if that is enough.
func (o *outputs) declare(list, room []controller.Output) {
	o.list = append(room, list...)
	slices.SortFunc(o.list, func(a, b controller.Output) int { return cmp.Compare(a.Type, b.Type) })

	if len(list) <= handful {
		return
	}

	o.types = make(map[resource.Type]struct{}, len(list))

	for _, out := range list {
		o.types[out.Type] = struct{}{}
	}
}

// checkOutputs declares the outputs of a node that is not registered yet, and tells what is wrong with them.
func (db *Database[T]) checkOutputs(node *Node[T], outputs []controller.Output) error {
	node.outputs.declare(outputs, node.room.outputs[:0])

	for i, out := range node.outputs.list {
		refuse := func(reason error, other, hint string) error {
			return &DeclarationError{
				Reason: reason, Controller: node.name, Other: other, Resource: describeOutput(out.Type, out.Kind), Hint: hint,
			}
		}

		if out.Type == "" {
			return refuse(ErrInvalidOutput, "", "give the resource type")
		}

		if out.Kind != controller.OutputExclusive && out.Kind != controller.OutputShared {
			return refuse(ErrInvalidOutput, "", "use OutputExclusive or OutputShared")
		}

		if i > 0 && node.outputs.list[i-1].Type == out.Type {
			return refuse(ErrInvalidOutput, "", "the type is declared twice, keep one of the two")
		}

		if owner, taken := db.exclusive.Get(out.Type); taken {
			return refuse(ErrOutputTaken, owner.name, "an exclusive output allows no other claim on its type; declare both as shared")
		}

		if out.Kind == controller.OutputExclusive && len(db.shared[out.Type]) > 0 {
			return refuse(ErrOutputTaken, firstOf(db.shared[out.Type]), "the type is already a shared output; declare it as shared here too")
		}
	}

	return nil
}

// claim takes the outputs of a node, which were checked.
func (db *Database[T]) claim(node *Node[T]) {
	for _, out := range node.outputs.list {
		if out.Kind == controller.OutputExclusive {
			db.exclusive.Put(out.Type, node)

			continue
		}

		if db.shared[out.Type] == nil {
			db.shared[out.Type] = map[string]struct{}{}
		}

		db.shared[out.Type][node.name] = struct{}{}
	}
}

// release frees the outputs of a node.
func (db *Database[T]) release(node *Node[T]) {
	for _, out := range node.outputs.list {
		if out.Kind == controller.OutputExclusive {
			db.exclusive.Delete(out.Type)

			continue
		}

		delete(db.shared[out.Type], node.name)

		if len(db.shared[out.Type]) == 0 {
			delete(db.shared, out.Type)
		}
	}
}

func firstOf(names map[string]struct{}) string {
	first := ""

	for name := range names {
		if first == "" || name < first {
			first = name
		}
	}

	return first
}
