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

		if _, twice := node.outputs[out.Type]; twice {
			return refuse(ErrInvalidOutput, "", "the type is declared twice, keep one of the two")
		}

		if owner, taken := db.exclusive[out.Type]; taken {
			return refuse(ErrOutputTaken, owner, "an exclusive output allows no other claim on its type; declare both as shared")
		}

		if out.Kind == controller.OutputExclusive && len(db.shared[out.Type]) > 0 {
			return refuse(ErrOutputTaken, firstOf(db.shared[out.Type]), "the type is already a shared output; declare it as shared here too")
		}

		node.outputs[out.Type] = out.Kind
	}

	return nil
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
