// Command recorder is a first controller: it keeps one DNS record for every host. The README shows its pieces.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
)

// Recorder keeps a record for every host.
type Recorder struct{}

// Name implements [controller.Controller].
func (Recorder) Name() string { return "Recorder" }

// Inputs implements [controller.Controller]: what may be read, and what wakes the controller.
func (Recorder) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputWeak)}
}

// Outputs implements [controller.Controller]: what may be written.
func (Recorder) Outputs() []controller.Output {
	return []controller.Output{{Type: RecordType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller]: each wakeup brings all records in line with all hosts.
func (Recorder) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		r.StartTrackingOutputs()

		hosts, err := safe.ReaderListAll[*Host](ctx, r)
		if err != nil {
			return err
		}

		for host := range hosts.All() {
			err := safe.WriterModify(ctx, r, NewRecord(host.Metadata().ID()), func(record *Record) error {
				record.TypedSpec().Line = host.Metadata().ID() + " A " + host.TypedSpec().Address

				return nil
			})
			if err != nil {
				return err
			}
		}

		if err := safe.CleanupOutputs[*Record](ctx, r); err != nil {
			return err
		}
	}
}

func run(ctx context.Context) error {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	engine, err := runtime.NewRuntime(st, zap.NewNop())
	if err != nil {
		return err
	}

	if err := engine.RegisterController(Recorder{}); err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	show(ctx, st)
	stop()

	return <-ended
}

// show creates a host, waits for its record, destroys the host, and waits for the record to go.
func show(ctx context.Context, st state.State) {
	web := NewHost("web", "192.0.2.7")

	if err := st.Create(ctx, web); err != nil {
		log.Fatal(err)
	}

	record, err := st.WatchFor(ctx, NewRecord("web").Metadata(), state.WithEventTypes(state.Created))
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println(record.(*Record).TypedSpec().Line)

	if err := st.Destroy(ctx, web.Metadata()); err != nil {
		log.Fatal(err)
	}

	if _, err := st.WatchFor(ctx, NewRecord("web").Metadata(), state.WithEventTypes(state.Destroyed)); err != nil {
		log.Fatal(err)
	}

	fmt.Println("the record has gone with its host")
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
