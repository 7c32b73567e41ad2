package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"math"
	goruntime "runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"github.com/siderolabs/gen/xerrors"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/internal/fuzzed"
	"github.com/switchyard-run/switchyard/runtime"
)

// strangeErrors are errors of all sorts that callbacks return or panic with.
func strangeErrors() []error {
	var noRequeue *controller.RequeueError

	return []error{
		errBroken, noError, rude{}, bomb{}, trap{}, liar{}, &bomb{}, noRequeue, context.Canceled, context.DeadlineExceeded,
		fmt.Errorf("around: %w", noRequeue), fmt.Errorf("around: %w", liar{}), errors.Join(errBroken, bomb{}, nil, noError),
		controller.NewRequeueError(bomb{}, time.Second), controller.NewRequeueError(liar{}, -1), controller.NewRequeueInterval(0),
		controller.NewRequeueInterval(math.MinInt64), controller.NewRequeueInterval(math.MaxInt64), controller.NewRequeueInterval(time.Second),
		fmt.Errorf("around: %w", controller.NewRequeueInterval(1)), xerrors.NewTagged[qtransform.SkipReconcileTag](bomb{}),
		xerrors.NewTagged[qtransform.SkipReconcileTag](errBroken),
	}
}

// act is what a callback does in one of its calls.
type act func(ctx context.Context, r access) error

// access is what all callbacks may use.
type access interface {
	controller.Reader
	controller.Writer
}

// acts are what the callbacks of one form do, call after call, and nothing special when that has come to its end.
type acts struct {
	// mu guards the fields below.
	mu    sync.Mutex
	todo  []act
	calls int
}

func (a *acts) next() act {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.calls++

	if a.calls > len(a.todo) {
		return func(context.Context, access) error { return nil }
	}

	return a.todo[a.calls-1]
}

func (a *acts) play(ctx context.Context, r access) error { return a.next()(ctx, r) }

// pickAct picks what a callback does.
func pickAct(b *fuzzed.Bytes, words []string) act {
	failure := fuzzed.One(b, strangeErrors())
	fails := func(resource.Resource) error { panic(failure) }

	ptr := fuzzed.One(b, []resource.Pointer{
		sourcePtr(fuzzed.One(b, words)), targetPtr(fuzzed.One(b, words)), (*resource.Metadata)(nil), nil,
		resource.NewMetadata(fuzzed.One(b, words), fuzzed.One(b, words), fuzzed.One(b, words), resource.VersionUndefined),
	})
	res := fuzzed.One(b, []resource.Resource{
		newTarget(fuzzed.One(b, words), 1), newTarget(fuzzed.One(b, words), 2), newSource("s", 1), nil, (*target)(nil), faceless{},
		shy{}, unique{newSource("s", 1)}, resource.NewTombstone(targetPtr(fuzzed.One(b, words))),
	})

	inputs := make([]controller.Input, b.Pick(4))
	for i := range inputs {
		inputs[i] = controller.Input{Namespace: fuzzed.One(b, words), Type: fuzzed.One(b, words), Kind: controller.InputKind(b.Pick(9) - 1)}

		if b.Pick(2) == 1 {
			inputs[i].ID = optional.Some(fuzzed.One(b, words))
		}
	}

	fin := fuzzed.One(b, words)

	switch b.Pick(20) {
	case 0, 1:
		return func(context.Context, access) error { return failure }
	case 2, 3:
		return func(context.Context, access) error { panic(failure) }
	case 4:
		return func(context.Context, access) error { goruntime.Goexit(); return nil }
	case 5:
		return func(context.Context, access) error { panic(ptr) }
	case 6:
		return func(ctx context.Context, r access) error { _, err := r.Get(ctx, ptr); return err }
	case 7:
		return func(ctx context.Context, r access) error { _, err := r.List(ctx, ptr); return err }
	case 8:
		return func(ctx context.Context, r access) error { _, err := r.ContextWithTeardown(ctx, ptr); return err }
	case 9:
		return func(ctx context.Context, r access) error { return r.Create(ctx, res) }
	case 10:
		return func(ctx context.Context, r access) error { return r.Update(ctx, res) }
	case 11:
		return func(ctx context.Context, r access) error { return r.Modify(ctx, res, fails) }
	case 12:
		return func(ctx context.Context, r access) error { return r.Modify(ctx, res, nil) }
	case 13:
		return func(ctx context.Context, r access) error { _, err := r.Teardown(ctx, ptr); return err }
	case 14:
		return func(ctx context.Context, r access) error { return r.Destroy(ctx, ptr) }
	case 15:
		return func(ctx context.Context, r access) error { return r.AddFinalizer(ctx, ptr, fin, fin) }
	case 16:
		return func(ctx context.Context, r access) error { return r.RemoveFinalizer(ctx, ptr, fin) }
	case 17, 18:
		return func(ctx context.Context, r access) error {
			if r, ok := r.(controller.Runtime); ok {
				return r.UpdateInputs(inputs)
			}

			return failure
		}
	default:
		return func(ctx context.Context, r access) error {
			if r, ok := r.(controller.OutputTracker); ok {
				r.StartTrackingOutputs()

				return r.CleanupOutputs(ctx, ptr)
			}

			return nil
		}
	}
}

// Whatever controllers of either form do, return and panic with, whatever they are called, and whatever they ask of their
// runtime: the engine goes on, others are served, the log says who it was, and those who have come to their senses work.
func FuzzHostileControllers(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add([]byte("\x04\x81\x82\x83\x84\x01\x03\x03\x00\x00\x00\x00\x00\x02\x03\x00\x00\x00\x00\x02\x04\x00\x00\x00\x00\x02\x05\x00\x00\x00\x00\x02"))
	f.Add([]byte("\x03\xff\xfd\x80\x01\x03\x01\x10\x02\x00\x00\x00\x00\x06\x10\x03\x00\x00\x00\x00\x09\x10\x04\x00\x00\x00\x00\x0b\x10\x01"))
	f.Add([]byte("controllers that have much to complain of, and mostly panic, or leave by the window, and then do as they were told"))

	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			b := fuzzed.From(data)
			words := b.Texts(5)

			var cfg runtime.Config
			if b.Pick(2) == 1 {
				cfg = cachedSources()
			}

			var run, hook, reconcile, mapping acts

			for _, a := range []*acts{&run, &hook, &reconcile, &mapping} {
				a.todo = make([]act, b.Pick(4))

				for i := range a.todo {
					a.todo[i] = pickAct(b, words)
				}
			}

			core, logs := observer.New(zap.ErrorLevel)
			w := newTrustingWorld(t, nil, cfg, zap.New(core))
			good := w.reconcilesSources()

			names := map[string]bool{}

			register := func(ctrl any, name string) {
				err := w.tryRegister(ctrl)
				if name != "" && name != "q" && !names[name] {
					require.NoError(t, err)
				} else {
					require.ErrorAs(t, err, new(*dependency.DeclarationError))
				}

				names[name] = true
			}

			name := b.Text()
			register(&classic{
				name: name, inputs: []controller.Input{sources(controller.InputStrong)}, outputs: []controller.Output{shared(targetType)},
				pass: func(ctx context.Context, r controller.Runtime) error { return run.play(ctx, r) },
			}, name)

			name = b.Text()
			register(&queued{
				name: name,
				settings: controller.QSettings{
					Inputs:  []controller.Input{sources(controller.InputQPrimary), targets(controller.InputQMapped)},
					Outputs: []controller.Output{shared(targetType)},
					RunHook: func(ctx context.Context, _ *zap.Logger, r controller.QRuntime) error { return hook.play(ctx, r) },
				},
				reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error {
					return reconcile.play(ctx, r)
				},
				mapInput: func(ctx context.Context, r controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
					err := mapping.play(ctx, r)

					return []resource.Pointer{sourcePtr(md.ID())}, err
				},
			}, name)

			w.create(newSource("s", 1), newTarget("t", 1))
			w.start()
			time.Sleep(time.Hour)

			for _, word := range words {
				ptr := resource.NewMetadata(word, word, word, resource.VersionUndefined)

				require.Error(t, w.Trigger(word, ptr))
				require.Error(t, w.Trigger("q", ptr))

				if !names[word] && word != "q" {
					require.Error(t, w.Unregister(t.Context(), word))
				}
			}

			before := good.len()

			w.set("s", 2)
			synctest.Wait()
			require.Greater(t, good.len(), before)

			// Changes bring back what was put off for ever, one call after the other.
			for i := range 5 {
				w.set("s", 3+i)
				time.Sleep(time.Hour)
			}

			require.True(t, json.Valid([]byte(expvar.Get("switchyard").String())), "metrics of whatever name can be read")
			require.Empty(t, w.Health().Problems())
			w.end()

			for _, entry := range logs.All() {
				named, ok := entry.ContextMap()["controller"].(string)
				require.True(t, ok && names[named], "%v", entry.ContextMap())
				assert.Contains(t, entry.ContextMap(), "error")
			}
		})
	})
}
