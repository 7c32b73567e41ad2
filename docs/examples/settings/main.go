// Command settings shows an operator: it makes a ConfigMap of each Settings, and says how far it is and what came of it.
//
// Without an argument it runs the form with a scope of cases and a stage after it; "stages" and "cases" are the two simpler
// ones. It ends by itself, or when it is told to by a signal.
package main

import (
	"context"
	"errors"
	"log"
	"os"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/operator"
)

// run runs the operator while show runs. It is no error to be told to end.
func run(ctx context.Context, settings *operator.Controller[*Settings], show func(context.Context, state.State) error) error {
	app := operator.NewApp(operator.AppConfig{})

	if err := app.Include(settings); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	st := app.State()

	go func() {
		defer stop()

		ended <- app.Run(ctx)
	}()

	err := show(ctx, st)
	if ctx.Err() != nil {
		err = nil
	}

	stop()

	return errors.Join(err, <-ended)
}

func main() {
	form := "scope"
	if len(os.Args) > 1 {
		form = os.Args[1]
	}

	define, ok := forms[form]
	if !ok {
		log.Fatalf("there is no form %q: say scope, stages or cases", form)
	}

	if err := run(context.Background(), define(), show); err != nil {
		log.Fatal(err)
	}
}
