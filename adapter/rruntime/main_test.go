package rruntime_test

import (
	"context"
	"expvar"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/stateadapter"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// clock is the one of the bubble, within one.
var clock = clockwork.NewRealClock()

// pass lets time go by, and waits until all that was due then has come to rest.
func pass(d time.Duration) {
	clock.Sleep(d)
	synctest.Wait()
}

// run is a controller that is nothing but its Run.
type run func(ctx context.Context, r controller.Runtime) error

func (run) Name() string                 { return "unused" }
func (run) Inputs() []controller.Input   { return nil }
func (run) Outputs() []controller.Output { return nil }

func (f run) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error { return f(ctx, r) }

// bench is an adapter with what is around it, in a bubble with a clock of its own.
type bench struct {
	*rruntime.Adapter

	run   run // what the controller does; may be set until Start
	name  string
	state state.State
	logs  *observer.ObservedLogs
	began time.Time
	stop  context.CancelFunc
	ctx   context.Context
}

// inBubble runs a test on an adapter whose retries double from a second, without jitter. The clock moves when nothing
// else does, to the next moment that somebody waits for.
func inBubble(t *testing.T, test func(t *testing.T, b *bench), f run) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.DebugLevel)
		engine := metrics.NewEngine(true)
		ctx, stop := context.WithCancel(t.Context())

		b := &bench{
			run: f, name: t.Name() + engine.Name(), state: state.WrapCore(namespaced.NewState(inmem.Build)), logs: logs,
			began: time.Now(), ctx: ctx, stop: stop,
		}

		node, err := dependency.NewDatabase[int]().Register(b.name, dependency.Classic, 0, nil,
			[]controller.Output{{Type: conformance.IntResourceType, Kind: controller.OutputExclusive}}, nil)
		require.NoError(t, err)

		b.Adapter = &rruntime.Adapter{}
		b.Init(rruntime.Config{
			Shared:     &rruntime.Shared{Clock: clock, Epoch: clock.Now(), Backoff: backoff.Policy{Base: time.Second, Factor: 2, Max: time.Hour}, Finished: engine.Finished()},
			Controller: run(func(ctx context.Context, r controller.Runtime) error { return b.run(ctx, r) }),
			Inputs:     refusing{},
			Guard: stateadapter.Config{
				Shared: &stateadapter.Shared{State: b.state, Cache: cache.New(cache.Config{}), Clock: clock},
				Name:   b.name, Declared: node, Logger: zap.New(core).With(zap.String("controller", b.name)),
			},
			Metrics: engine,
		})
		b.Admit()

		test(t, b)

		stop()
		b.Wait()
	})
}

// since returns how long the test has run.
func (b *bench) since() time.Duration { return time.Since(b.began) }

// counts returns crashes and wakeups as the metrics show them.
func (b *bench) counts() (crashes, wakeups string) {
	return b.count(contract.ControllerCrashes), b.count(contract.ControllerWakeups)
}

// count renders what a map of the contract shows for the controller; it has no entry before the first count.
func (b *bench) count(m *expvar.Map) string {
	if v := m.Get(b.name); v != nil {
		return v.String()
	}

	return "0"
}

// failures returns the lines that are at error level.
func (b *bench) failures() []observer.LoggedEntry {
	return b.logs.FilterLevelExact(zap.ErrorLevel).All()
}

// refusing refuses all inputs.
type refusing struct{}

func (refusing) UpdateInputs([]controller.Input) error { return errUpdate }
