package runtime_test

import (
	"context"
	"fmt"
	"math"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/internal/fuzzed"
	"github.com/switchyard-run/switchyard/runtime"
)

// faceless is a resource that has no metadata, and shy one that panics when it is asked for them.
type (
	faceless struct{ *source }
	shy      struct{ *source }
)

func (faceless) Metadata() *resource.Metadata { return nil }
func (shy) Metadata() *resource.Metadata      { panic("do not look at me") }

// lost is a resource of which a deep copy is nothing, and empty one that has no spec to speak of.
type (
	lost  struct{ *source }
	empty struct{ *source }
)

func (lost) DeepCopy() resource.Resource { return nil }
func (empty) Spec() any                  { panic("there is nothing in it") }

// lies makes up what a state may send.
type lies struct {
	*fuzzed.Bytes

	ids, labels []string
}

// resource makes up a resource of the kind, with metadata from all over the place, which mostly can be looked at. It never
// claims to be of the incarnation that there is: of two that are alike in all that tells them apart, none is the true one.
func (l lies) resource() resource.Resource {
	s := newSource(fuzzed.One(l.Bytes, l.ids), l.Pick(3))
	md := s.Metadata()

	if l.Often(8) {
		version, err := resource.ParseVersion(fuzzed.One(l.Bytes, []string{"1", "2", "3", "0", "9223372036854775807", "-1", "-9223372036854775808"}))
		if err == nil {
			md.SetVersion(version)
		}
	}

	md.SetCreated(fuzzed.One(l.Bytes, []time.Time{
		time.Now().Add(-1), time.Now().Add(1), {}, time.Unix(0, 0), time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64), time.Unix(math.MaxInt64/2, 0),
	}))
	md.SetPhase(fuzzed.One(l.Bytes, []resource.Phase{resource.PhaseRunning, resource.PhaseRunning, resource.PhaseTearingDown, 2, -1, 1 << 8}))

	for range l.Pick(3) {
		md.Labels().Set(fuzzed.One(l.Bytes, l.labels), fuzzed.One(l.Bytes, l.labels))
	}

	for range l.Pick(2) {
		md.Finalizers().Add(fuzzed.One(l.Bytes, l.labels))
	}

	switch l.Pick(24) {
	case 0:
		return resource.NewTombstone(md)
	case 1:
		return unique{s}
	case 2:
		return lost{s}
	case 3:
		return empty{s}
	case 4:
		return faceless{s}
	case 5:
		return shy{s}
	case 6:
		return (*source)(nil)
	case 7:
		return unique{}
	case 8:
		return newTarget(md.ID(), 1)
	case 9:
		return resource.NewTombstone(resource.NewMetadata(fuzzed.One(l.Bytes, l.labels), sourceType, md.ID(), md.Version()))
	case 10:
		return nil
	default:
		return s
	}
}

// event makes up an event, with a bookmark that the state will not know.
func (l lies) event() state.Event {
	var event state.Event

	switch kind := l.Pick(16); {
	case kind < 5:
		event = state.Event{Type: state.Created, Resource: l.resource()}
	case kind < 9:
		event = state.Event{Type: state.Updated, Resource: l.resource()}
	case kind < 12:
		event = state.Event{Type: state.Destroyed, Resource: l.resource()}
	case kind < 14:
		event = state.Event{Type: state.Bootstrapped}
	case kind == 14:
		event = state.Event{Type: state.Errored, Error: fuzzed.One(l.Bytes, strangeErrors())}
	default:
		event = state.Event{Type: fuzzed.One(l.Bytes, []state.EventType{state.Noop, state.Noop, -1, 77}), Resource: l.resource()}
	}

	event.Bookmark = fuzzed.One(l.Bytes, []state.Bookmark{nil, nil, {}, {1}, state.Bookmark("no such bookmark")})

	return event
}

// session makes up what comes of one watch, which fails in the end if it has not before.
func (l lies) session() func(ctx context.Context, ch chan<- []state.Event) error {
	batches := make([][]state.Event, l.Pick(4))

	for i := range batches {
		batches[i] = make([]state.Event, l.Pick(20))

		for j := range batches[i] {
			batches[i][j] = l.event()
		}
	}

	batches = append(batches, []state.Event{{Type: state.Errored, Error: errBroken}})
	failure := fuzzed.One(l.Bytes, strangeErrors())

	switch l.Pick(16) {
	case 0:
		return func(context.Context, chan<- []state.Event) error { return failure }
	case 1:
		return func(context.Context, chan<- []state.Event) error { panic(failure) }
	case 2:
		return func(context.Context, chan<- []state.Event) error { goruntime.Goexit(); return nil }
	case 3:
		return func(_ context.Context, ch chan<- []state.Event) error {
			close(ch)

			return nil
		}
	default:
		return func(ctx context.Context, ch chan<- []state.Event) error { return play(ctx, ch, batches...) }
	}
}

// readers are controllers of every form with every kind of input on the sources, which read whatever they are woken for.
func readers(id resource.ID) (all []any, reconciled *journal[resource.ID]) {
	reconciled = &journal[resource.ID]{}

	read := func(ctx context.Context, r controller.Reader, ptr resource.Pointer) error {
		if _, err := r.Get(ctx, ptr); err != nil && !state.IsNotFoundError(err) {
			return err
		}

		return nil
	}

	for _, in := range []controller.Input{
		sources(controller.InputWeak), sources(controller.InputStrong), sources(controller.InputDestroyReady),
		byID(sources(controller.InputWeak), id), byID(sources(controller.InputDestroyReady), id),
	} {
		all = append(all, &classic{name: fmt.Sprintf("classic %d, by id: %t", in.Kind, in.ID.IsPresent()), inputs: []controller.Input{in}, pass: func(ctx context.Context, r controller.Runtime) error {
			if !in.ID.IsPresent() {
				if _, err := r.List(ctx, sourcePtr("")); err != nil {
					return err
				}
			}

			return read(ctx, r, sourcePtr(id))
		}})
	}

	for _, in := range []controller.Input{
		sources(controller.InputQMapped), sources(controller.InputQMappedDestroyReady), byID(sources(controller.InputQMapped), id),
	} {
		all = append(all, &queued{
			name: fmt.Sprintf("queue %d, by id: %t", in.Kind, in.ID.IsPresent()), settings: controller.QSettings{Inputs: []controller.Input{in, targets(controller.InputQPrimary)}},
			mapInput: func(ctx context.Context, r controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				_, _ = md.Labels().Get(md.ID())
				_, _ = md.Phase(), md.FinalizersEmpty()

				return []resource.Pointer{targetPtr(md.ID())}, read(ctx, r, md)
			},
		})
	}

	all = append(all,
		&queued{
			name: "primary", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				reconciled.add(ptr.ID())

				return read(ctx, r, ptr)
			},
		},
		&queued{
			name: "primary by id", settings: controller.QSettings{Inputs: []controller.Input{byID(sources(controller.InputQPrimary), id)}},
			reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error { return read(ctx, r, ptr) },
		})

	return all, reconciled
}

// Whatever a state sends of one kind, in whatever order, nothing of it is the end of the engine: each watch that fails is
// named, other kinds are served, and when the state has come to its senses everybody sees what there is.
func FuzzHostileState(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add([]byte("\x01\x04\x81\x82\x83\x84\x02\x85\x86\x03\x02\x0a\x00\x01\x02\x00\x00\x00\x00\x0b\x00\x0c\x00\x00\x01\x02\x00\x00\x00\x00\x06"))
	f.Add([]byte("\x02\x03\xff\xfd\x80\x01\x85\x01\x01\x03\x00\x00\x00\x00\x00\x00\x04\x00\x0c\x00\x00\x00\x00\x00\x00\x05\x0d\x0e\x0f"))
	f.Add([]byte("a state that has much to say, and little of it makes sense: it was there, it was not, and it is there once more"))

	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			b := fuzzed.From(data)

			var cfg runtime.Config

			build := newTrustingWorld

			switch b.Pick(3) {
			case 1:
				cfg = cachedSources()
			case 2:
				cfg, build = cachedSources(), newWorld
			}

			l := lies{Bytes: b, ids: b.Texts(5), labels: b.Texts(4)}
			sessions := make([]func(context.Context, chan<- []state.Event) error, 1+b.Pick(4))

			for i := range sessions {
				sessions[i] = l.session()
			}

			st := &script{State: newState()}
			st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
				if n < len(sessions) {
					return sessions[n](ctx, ch)
				}

				return st.State.WatchKindAggregated(ctx, sourcePtr(""), ch, asOptions(opts)...)
			}

			core, logs := observer.New(zap.WarnLevel)
			w := build(t, st, cfg, zap.New(core))
			all, reconciled := readers(l.ids[0])

			var others journal[string]

			for _, ctrl := range append(all, &classic{
				name: "bystander", inputs: []controller.Input{byID(targets(controller.InputWeak), "t")},
				pass: func(context.Context, controller.Runtime) error {
					others.add("woken")

					return nil
				},
			}) {
				w.register(ctrl)
			}

			truth := map[resource.ID]bool{}

			for _, id := range l.ids {
				if b.Pick(2) == 0 {
					truth[id] = true
					w.create(newSource(id, 1))
				}
			}

			w.start()
			synctest.Wait()

			before := others.len()

			w.create(newTarget("t", 1))
			synctest.Wait()
			require.Greater(t, others.len(), before, "other kinds are served meanwhile")

			time.Sleep(time.Hour)
			require.Empty(t, w.Health().Problems())
			w.requireTruth(truth, cfg.Options != nil)

			for id := range truth {
				require.Contains(t, reconciled.all(), id)

				before := reconciled.len()

				w.set(id, 2)
				synctest.Wait()
				require.Equal(t, append(reconciled.all()[:before:before], id), reconciled.all(), "what happens from now on is news as ever")
			}

			w.end()

			failures := logs.FilterMessage("watch failed and will be resumed").All()
			require.NotEmpty(t, failures)

			for _, entry := range failures {
				assert.Equal(t, ns+"/"+sourceType, entry.ContextMap()["kind"])
				assert.NotEmpty(t, entry.ContextMap()["error"])
			}
		})
	})
}

// requireTruth compares what is known of the sources with what there is.
func (w *world) requireTruth(truth map[resource.ID]bool, cached bool) {
	w.t.Helper()

	for _, kind := range w.Health().Kinds {
		if kind.Type == sourceType {
			require.Equal(w.t, len(truth), kind.Known)
		}
	}

	if !cached {
		return
	}

	want, err := w.state.List(w.t.Context(), sourcePtr(""))
	require.NoError(w.t, err)

	got, err := w.CachedState().List(w.t.Context(), sourcePtr(""))
	require.NoError(w.t, err)
	require.Len(w.t, got.Items, len(want.Items))

	for i := range want.Items {
		require.True(w.t, resource.Equal(want.Items[i], got.Items[i]), "%s and %s", want.Items[i].Metadata(), got.Items[i].Metadata())
	}
}
