package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/runtime"
)

// quietly is a controller that does nothing, and says so on a channel.
type quietly struct {
	name string
	done chan struct{}
}

func (c *quietly) Name() string { return c.name }

func (c *quietly) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: c.name, Type: conformance.IntResourceType, Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: "out of " + c.name, Kind: controller.OutputExclusive}},
	}
}

func (c *quietly) Reconcile(context.Context, *zap.Logger, controller.QRuntime, resource.Pointer) error {
	c.done <- struct{}{}

	return nil
}

func (*quietly) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// BenchmarkLook is one look at 1,000 controllers, of which each has made a number of passes since the last one, and all that is sent to
// somebody who watches. The engine is looked at once a second, so 1 ms is 0.1 % of a processor.
func BenchmarkLook(b *testing.B) {
	for _, passes := range []int{0, 1, cause.DefaultPasses} {
		b.Run(fmt.Sprintf("%d passes each", passes), func(b *testing.B) { benchmarkLook(b, 1000, passes) })
	}
}

func benchmarkLook(b *testing.B, controllers, passes int) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: cause.DefaultPasses, NoFindings: true})
	if err != nil {
		b.Fatal(err)
	}

	done := make(chan struct{}, controllers*max(passes, 1))

	for i := range controllers {
		if err := engine.RegisterQController(&quietly{fmt.Sprintf("controller %04d", i), done}); err != nil {
			b.Fatal(err)
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	defer func() {
		cancel()

		if err := <-ended; err != nil {
			b.Error(err)
		}
	}()

	clock := clockwork.NewFakeClock()
	l := newLooker(Config{
		Engine: engine, Answers: answer.New(answer.Config{Engine: engine, State: st, Clock: clock}), Clock: clock, Logger: zap.NewNop(),
	})

	l.look(true, false)

	var sent int

	made := 0

	for b.Loop() {
		b.StopTimer()

		for i := range controllers * passes {
			name := fmt.Sprintf("controller %04d", i%controllers)
			if err := st.Create(ctx, conformance.NewIntResource(name, fmt.Sprint(made), 1)); err != nil {
				b.Fatal(err)
			}

			made++
		}

		for range controllers * passes {
			<-done
		}

		clock.Advance(time.Second)
		b.StartTimer()

		seen, _ := l.look(true, false)
		sent = len(seen.changed)
	}

	b.ReportMetric(float64(sent), "B/look")
}
