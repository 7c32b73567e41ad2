package dependency

import (
	"github.com/cosi-project/runtime/pkg/controller"
)

func (db *Database[T]) checkOutputs(node *Node[T], outputs []controller.Output) error {
	for _, out := range outputs {
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

		if _, twice := node.outputs.lookup(out.Type); twice {
			return refuse(ErrInvalidOutput, "", "the type is declared twice, keep one of the two")
		}

		if owner, taken := db.exclusive[out.Type]; taken {
			return refuse(ErrOutputTaken, owner, "an exclusive output allows no other claim on its type; declare both as shared")
		}

		if out.Kind == controller.OutputExclusive && len(db.shared[out.Type]) > 0 {
			return refuse(ErrOutputTaken, firstOf(db.shared[out.Type]), "the type is already a shared output; declare it as shared here too")
		}

		node.outputs.set(out.Type, out.Kind)
	}

	return nil
}

// claim takes the outputs of a node, which were checked.
func (db *Database[T]) claim(node *Node[T]) {
	for _, typ := range node.outputs.keys() {
		if node.outputs.get(typ) == controller.OutputExclusive {
			db.exclusive[typ] = node.name

			continue
		}

		if db.shared[typ] == nil {
			db.shared[typ] = map[string]struct{}{}
		}

		db.shared[typ][node.name] = struct{}{}
	}
}

// release frees the outputs of a node.
func (db *Database[T]) release(node *Node[T]) {
	for _, typ := range node.outputs.keys() {
		if node.outputs.get(typ) == controller.OutputExclusive {
			delete(db.exclusive, typ)

			continue
		}

		delete(db.shared[typ], node.name)

		if len(db.shared[typ]) == 0 {
			delete(db.shared, typ)
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
