// Command externalrecord shows an operator with a finalizer: it has a service elsewhere keep a record of each ExternalRecord, and
// lets none of them go before the service has.
//
// The service runs in the same program, behind HTTP, and fails for a while. The program ends by itself, or when it is told
// to by a signal.
package main

import (
	"context"
	"errors"
	"log"
	"net"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/operator"
)

// run runs the service and the operator while show runs. It is no error to be told to end.
func run(ctx context.Context, show func(context.Context, state.State, *service) error) error {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer at.Close() // if the service has not come to it

	elsewhere := newService()
	provider := newClient("http://" + at.Addr().String())
	app := operator.NewApp(operator.AppConfig{})

	if err := errors.Join(
		app.Include(records(provider)),
		// The service is there before the first controller, and goes after the last one.
		app.Lifespan(func(context.Context) (func(context.Context) error, error) {
			stop := elsewhere.serve(at)

			return func(ctx context.Context) error {
				provider.close()

				return stop(ctx)
			}, nil
		}),
	); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	st := app.State()

	go func() {
		defer stop()

		ended <- app.Run(ctx)
	}()

	err = show(ctx, st, elsewhere)
	if ctx.Err() != nil {
		err = nil
	}

	stop()

	return errors.Join(err, <-ended)
}

func main() {
	if err := run(context.Background(), show); err != nil {
		log.Fatal(err)
	}
}
