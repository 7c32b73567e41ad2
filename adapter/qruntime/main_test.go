package qruntime_test

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
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

var (
	errFailed = errors.New("it did not work")
	errSkip   = errors.New("not now")
)

// bench is an adapter with what is around it, in a bubble with a clock of its own. The controller has a primary input on
// the integers in "n", one by id on "only" in "m", and a mapped one on the strings in "n".
type bench struct {
	*qruntime.Adapter

	name      string
	settings  controller.QSettings
	reconcile func(ctx context.Context, id resource.ID) error
	mapInput  func(ctx context.Context, md controller.ReducedResourceMetadata) ([]resource.Pointer, error)
	known     []resource.ID // what is filled in when everything is
	tracer    *cause.Tracer // by default nothing is remembered

	logger     *zap.Logger       // by default one whose lines are in logs
	level      zapcore.Level     // of the default logger, by default debug
	withLogger func(*zap.Logger) // called in each pass, if set

	logs  *observer.ObservedLogs
	began time.Time
	stop  context.CancelFunc
	ctx   context.Context

	// mu guards trace, the passes as they began.
	mu    sync.Mutex
	trace []string
}

// inBubble runs a test on an adapter whose backoff doubles from a second, without jitter. Prepare sets the callbacks
// and settings, it may be nil; what is not set succeeds. The clock moves when nothing else does, to the next moment
// that somebody waits for. In the end the adapter is stopped, and nothing of it may be left.
func inBubble(t *testing.T, prepare, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) {
		engine := metrics.NewEngine(true)
		ctx, stop := context.WithCancel(t.Context())

		b := &bench{
			name: t.Name() + engine.Name(), began: time.Now(), ctx: ctx, stop: stop, level: zap.DebugLevel,
			reconcile: func(context.Context, resource.ID) error { return nil },
			mapInput: func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				return nil, nil
			},
			settings: controller.QSettings{Inputs: []controller.Input{
				{Namespace: "n", Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
				{Namespace: "m", Type: conformance.IntResourceType, ID: optional.Some("only"), Kind: controller.InputQPrimary},
				{Namespace: "n", Type: conformance.StrResourceType, Kind: controller.InputQMapped},
			}},
		}

		if prepare != nil {
			prepare(t, b)
		}

		core, logs := observer.New(b.level)
		b.logs = logs

		if b.logger == nil {
			b.logger = zap.New(core).With(zap.String("controller", b.name))
		}

		b.Adapter = qruntime.New(qruntime.Config{
			Controller: callbacks{b},
			Settings:   &b.settings,
			Skipped:    func(err error) bool { return errors.Is(err, errSkip) },
			Everything: func() { b.fill(b.known...) },
			Clock:      clock,
			Backoff:    backoff.Policy{Base: time.Second, Factor: 2, Max: time.Hour},
			Metrics:    engine.Queue(b.name),
			Logger:     b.logger,
			Trace:      b.tracer,
		})

		test(t, b)

		stop()
		b.Wait()
	})
}

// callbacks is the controller of a bench.
type callbacks struct{ b *bench }

func (c callbacks) Name() string                   { return "unused" }
func (c callbacks) Settings() controller.QSettings { panic("read by whoever registers") }

func (c callbacks) Reconcile(ctx context.Context, logger *zap.Logger, _ controller.QRuntime, ptr resource.Pointer) error {
	c.b.note(ptr.ID())
	c.log(logger)

	return c.b.reconcile(ctx, ptr.ID())
}

func (c callbacks) MapInput(
	ctx context.Context, logger *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	c.b.note("map " + md.ID())
	c.log(logger)

	return c.b.mapInput(ctx, md)
}

func (c callbacks) log(logger *zap.Logger) {
	if c.b.withLogger != nil {
		c.b.withLogger(logger)
	}
}

// note adds a pass to the trace, as "0s: a".
func (b *bench) note(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.trace = append(b.trace, fmt.Sprintf("%s: %s", time.Since(b.began), what))
}

// passes returns the passes since the last call, after all has come to rest.
func (b *bench) passes() []string {
	synctest.Wait()

	b.mu.Lock()
	defer b.mu.Unlock()

	trace := b.trace
	b.trace = nil

	return trace
}

func (b *bench) deliver(md reduced.Metadata, kind controller.InputKind) {
	b.Deliver([]reduced.Metadata{md}, kind)
}

// fill fills in resources to be reconciled.
func (b *bench) fill(ids ...resource.ID) {
	b.Fill(reduced.Kind{Namespace: "n", Type: conformance.IntResourceType}, ids)
}

// change delivers a change of a primary input.
func (b *bench) change(ids ...resource.ID) {
	for _, id := range ids {
		b.deliver(reduced.Of(conformance.NewIntResource("n", id, 0), false), controller.InputQPrimary)
	}
}

// changeMapped delivers a change of a mapped input.
func (b *bench) changeMapped(id resource.ID) {
	b.deliver(reduced.Of(conformance.NewStrResource("n", id, ""), false), controller.InputQMapped)
}

func key(ns, id string) reduced.Key {
	return reduced.Key{Kind: reduced.Kind{Namespace: ns, Type: conformance.IntResourceType}, ID: id}
}

// keys are keys of primary inputs.
func keys(ids ...resource.ID) []reduced.Key {
	keys := make([]reduced.Key, len(ids))
	for i, id := range ids {
		keys[i] = key("n", id)
	}

	return keys
}

// failures returns the lines that are at error level.
func (b *bench) failures() []observer.LoggedEntry {
	return b.logs.FilterLevelExact(zap.ErrorLevel).All()
}

// counted are the metrics of the controller.
type counted struct{ crashes, processed, skips, requeues, mappedIn, mappedOut string }

func (b *bench) counted() counted {
	return counted{
		b.count(contract.QControllerCrashes), b.count(contract.QControllerProcessed),
		b.count(contract.QControllerSkips), b.count(contract.QControllerRequeues),
		b.count(contract.QControllerMappedIn), b.count(contract.QControllerMappedOut),
	}
}

// count renders what a map of the contract shows for the controller; it has no entry before the first count.
func (b *bench) count(m *expvar.Map) string {
	if v := m.Get(b.name); v != nil {
		return v.String()
	}

	return "0"
}

// script returns a callback that returns the errors one after the other, and then nil.
func script(errs ...error) func(context.Context, resource.ID) error {
	var mu sync.Mutex

	return func(context.Context, resource.ID) error {
		mu.Lock()
		defer mu.Unlock()

		if len(errs) == 0 {
			return nil
		}

		err := errs[0]
		errs = slices.Delete(errs, 0, 1)

		return err
	}
}

func requireTrace(t *testing.T, b *bench, want ...string) {
	t.Helper()
	require.Equal(t, want, b.passes())
}
