package examples_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// Recorder keeps a record for every host, four hosts at a time.
type Recorder struct{}

func (Recorder) Name() string { return "Recorder" }

func (Recorder) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			safe.Input[*Host](controller.InputQPrimary),
			safe.Input[*Record](controller.InputQMappedDestroyReady),
		},
		Outputs:     []controller.Output{{Type: recordType, Kind: controller.OutputExclusive}},
		Concurrency: optional.Some[uint](4),
	}
}

func (c Recorder) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	host, err := safe.ReaderGetByID[*Host](ctx, r, ptr.ID())

	switch {
	case state.IsNotFoundError(err):
		return nil
	case err != nil:
		return err
	case host.Metadata().Phase() == resource.PhaseTearingDown:
		return c.remove(ctx, r, host)
	}

	if err := stateadapter.AddFinalizerIfRunning(ctx, r, host.Metadata(), c.Name()); err != nil {
		return err
	}

	return safe.WriterModify(ctx, r, newRecord(ptr.ID()), func(record *Record) error {
		record.TypedSpec().Value = ptr.ID() + " A " + host.TypedSpec().Value

		return nil
	})
}

// remove lets the host go once its record has gone.
func (c Recorder) remove(ctx context.Context, r controller.QRuntime, host *Host) error {
	record := newRecord(host.Metadata().ID()).Metadata()

	ready, err := r.Teardown(ctx, record)

	switch {
	case state.IsNotFoundError(err):
		return r.RemoveFinalizer(ctx, host.Metadata(), c.Name())
	case err != nil:
		return err
	case !ready:
		return nil // somebody holds the record; MapInput brings us back
	}

	if err := r.Destroy(ctx, record); err != nil {
		return err
	}

	return r.RemoveFinalizer(ctx, host.Metadata(), c.Name())
}

// MapInput maps a record that can be destroyed, or was, to its host.
func (Recorder) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, record controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	return []resource.Pointer{newHost(record.ID(), "").Metadata()}, nil
}

func Example_queueController() {
	st := newState()

	engine, err := runtime.NewRuntime(st, zap.NewNop())
	must(err)
	must(engine.RegisterQController(Recorder{}))

	run(engine, func(ctx context.Context) {
		web := newHost("web", "192.0.2.7")
		must(st.Create(ctx, web))

		record, err := st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
		must(err)

		fmt.Println(record.(*Record).TypedSpec().Value)

		must(st.TeardownAndDestroy(ctx, web.Metadata()))

		_, err = st.Get(ctx, newRecord("web").Metadata())
		fmt.Println("record is gone:", state.IsNotFoundError(err))
	})

	// Output:
	// web A 192.0.2.7
	// record is gone: true
}
