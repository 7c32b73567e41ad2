package stateadapter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/stateadapter"
)

// A controller that uses a resource attaches to it while it runs, and waits for the next one otherwise.
func ExampleAddFinalizerIfRunning() {
	ctx := context.Background()

	// Within a controller, r is the runtime that its Run or Reconcile was handed.
	b := newBench(example{}, reads(controller.InputStrong), nil)
	b.create(example{}, "", number("a", 1))

	var r controller.Writer = b.Adapter

	attach := func() {
		err := stateadapter.AddFinalizerIfRunning(ctx, r, ptr("a"), "MyController")

		switch {
		case err == nil:
			fmt.Println("attached")
		case state.IsPhaseConflictError(err):
			fmt.Println("it is going, leave it alone")
		default:
			fmt.Println(err)
		}
	}

	attach()

	_, err := b.state.UpdateWithConflicts(ctx, ptr("a"), func(res resource.Resource) error {
		res.Metadata().SetPhase(resource.PhaseTearingDown)

		return nil
	})
	fmt.Println(err)

	attach()

	// Output:
	// attached
	// <nil>
	// it is going, leave it alone
}

func ExampleRefusedError() {
	b := newBench(example{}, reads(controller.InputWeak), nil)

	err := b.Destroy(context.Background(), ptr("a"))

	var refused *stateadapter.RefusedError

	fmt.Println(errors.Is(err, stateadapter.ErrNotWritable), errors.As(err, &refused))
	fmt.Println(err)
	// Output:
	// true true
	// controller "MyController" may not destroy n/test/int with id "a": it is not an output (declare the type in Outputs or Settings)
}

// example stands for a test in the examples.
type example struct{}

func (example) Errorf(format string, args ...any) { fmt.Printf(format, args...) }
func (example) FailNow()                          { panic("failed") }
