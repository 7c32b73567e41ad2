package dependency

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// Reasons for which a declaration is refused; ask for them with errors.Is.
var (
	// ErrInvalidName is the reason when a controller has no name.
	ErrInvalidName = errors.New("controller name is not valid")
	// ErrNameTaken is the reason when another controller of either kind has the name.
	ErrNameTaken = errors.New("controller name is taken")
	// ErrOutputTaken is the reason when an exclusive output meets another claim on its type.
	ErrOutputTaken = errors.New("output is taken")
	// ErrInvalidOutput is the reason when an output can not be honoured as it is written.
	ErrInvalidOutput = errors.New("output is not valid")
	// ErrInvalidInput is the reason when an input can not be honoured as it is written.
	ErrInvalidInput = errors.New("input is not valid")
	// ErrDuplicateInput is the reason when two inputs of one controller have the same namespace, type and id.
	ErrDuplicateInput = errors.New("input is declared twice")
	// ErrUnknownController is the reason when no controller of the name is registered.
	ErrUnknownController = errors.New("controller is not registered")
)

// DeclarationError tells why a declaration was refused. Nothing of a refused declaration is kept.
type DeclarationError struct {
	// Reason is one of the sentinels of this package.
	Reason error
	// Controller is the name of the controller whose declaration was refused.
	Controller string
	// Other is the controller that already holds the name or the output, or empty.
	Other string
	// Resource names the input or output concerned, or is empty.
	Resource string
	// Hint says what to do about it.
	Hint string
}

// Error names the controller, what was refused, who holds it, and the way out.
func (e *DeclarationError) Error() string {
	var b strings.Builder

	fmt.Fprintf(&b, "controller %q: %v", e.Controller, e.Reason)

	if e.Resource != "" {
		fmt.Fprintf(&b, ": %s", e.Resource)
	}

	if e.Other != "" {
		fmt.Fprintf(&b, " by controller %q", e.Other)
	}

	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}

	return b.String()
}

// Unwrap returns the reason, for errors.Is.
func (e *DeclarationError) Unwrap() error { return e.Reason }

func describeInput(in controller.Input) string {
	id, ok := in.ID.Get()
	if !ok {
		return fmt.Sprintf("%s input on %s/%s", inputKindName(in.Kind), in.Namespace, in.Type)
	}

	return fmt.Sprintf("%s input on %s/%s with id %q", inputKindName(in.Kind), in.Namespace, in.Type, id)
}

func describeOutput(typ resource.Type, kind controller.OutputKind) string {
	switch kind {
	case controller.OutputExclusive:
		return fmt.Sprintf("exclusive output %q", typ)
	case controller.OutputShared:
		return fmt.Sprintf("shared output %q", typ)
	default:
		return fmt.Sprintf("output %q of kind %d", typ, kind)
	}
}

func inputKindName(kind controller.InputKind) string {
	names := [...]string{
		controller.InputWeak:                "weak",
		controller.InputStrong:              "strong",
		controller.InputDestroyReady:        "destroy-ready",
		controller.InputQPrimary:            "primary",
		controller.InputQMapped:             "mapped",
		controller.InputQMappedDestroyReady: "mapped destroy-ready",
	}

	if kind < 0 || kind >= len(names) {
		return fmt.Sprintf("unknown (%d)", kind)
	}

	return names[kind]
}
