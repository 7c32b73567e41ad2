package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/live"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is an engine that counts how often it is looked at.
type watched struct {
	*runtime.Runtime

	looks  atomic.Int64
	broken atomic.Bool
}

func (e *watched) Health() runtime.Health {
	e.looks.Add(1)

	if e.broken.Load() {
		panic("out of order")
	}

	return e.Runtime.Health()
}

// world is an engine with a hub, in a bubble of time.
type world struct {
	*testing.T
	state.State

	engine *watched
	hub    *live.Hub
}

// copies is the name of the controller of a world.
const copies = "copies"

func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, State: state.WrapCore(namespaced.NewState(inmem.Build))}

		engine, err := runtime.New(w.State, zap.NewNop(), runtime.Config{Passes: 8})
		require.NoError(t, err)

		w.engine = &watched{Runtime: engine}
		require.NoError(t, engine.RegisterQController(&copier{named{copies}}))

		w.hub = live.New(live.Config{
			Engine: w.engine, Answers: answer.New(answer.Config{Engine: w.engine, State: w.State}), Streams: 8,
		})

		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)

		go func() { done <- engine.Run(ctx) }()

		t.Cleanup(func() {
			w.hub.Close()
			cancel()
			assert.NoError(t, <-done)
		})

		synctest.Wait()
		test(t, w)
	})
}

// write makes n changes, each of a resource of its own.
func (w *world) write(from, n int) {
	w.Helper()
	time.Sleep(time.Millisecond) // a moment is before a look, or after it

	for i := range n {
		require.NoError(w, w.Create(w.Context(), conformance.NewIntResource("source", fmt.Sprint(from+i), 1)))
	}

	synctest.Wait()
}

func (w *world) watch() *live.Watch {
	w.Helper()

	stream, err := w.hub.Watch()
	require.NoError(w, err)

	return stream
}

type event struct{ name, data string }

type stream interface {
	Next(ctx context.Context) ([]byte, error)
}

// next returns what a stream sends next.
func (w *world) next(s stream) (events []event) {
	w.Helper()

	text, err := s.Next(w.Context())
	require.NoError(w, err)

	for part := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n\n"), "\n\n") {
		if part == ": alive" {
			continue
		}

		name, data, ok := strings.Cut(strings.TrimPrefix(part, "event: "), "\ndata: ")
		require.True(w, ok, part)
		require.NotContains(w, data, "\n")

		events = append(events, event{name, data})
	}

	return events
}

func decode[T any](w *world, e event, name string) *T {
	w.Helper()
	require.Equal(w, name, e.name)

	document := new(T)
	require.NoError(w, json.Unmarshal([]byte(e.data), document))

	return document
}

// A look that panics tells nobody anything, and ends neither the process nor the looking.
func TestLooksThatPanic(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.engine.broken.Store(true)

		s := w.watch()
		defer s.Close()

		time.Sleep(3 * time.Second)
		require.Greater(t, w.engine.looks.Load(), int64(2))

		w.engine.broken.Store(false)
		require.Len(t, decode[api.Overview](w, w.next(s)[0], api.EventOverview).Controllers, 1)

		w.engine.broken.Store(true)
		w.write(0, 3)
		time.Sleep(3 * time.Second)
		w.engine.broken.Store(false)

		require.Len(t, decode[api.Change](w, w.next(s)[0], api.EventChange).Controllers, 1)
	})
}

// An overview comes first, then what changes and nothing else, and rates are there as long as something happens.
func TestWatch(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.watch()
		defer s.Close()

		events := w.next(s)
		require.Len(t, events, 1)

		l := api.NewLive(decode[api.Overview](w, events[0], api.EventOverview))
		require.Len(t, l.Controllers, 1)
		require.NotEmpty(t, l.Findings)

		w.write(0, 3)

		change := decode[api.Change](w, w.next(s)[0], api.EventChange)
		require.Len(t, change.Controllers, 1)
		assert.Nil(t, change.Findings)
		assert.Nil(t, change.Problems)

		l.Apply(change)
		assert.InDelta(t, 3, l.Passes[copies], 0)
		assert.InDelta(t, 3, l.Writes[copies][conformance.StrResourceType], 0)
		assert.InDelta(t, 3, l.Wakeups[copies][api.Input{
			Ref: api.Ref{Namespace: "source", Type: conformance.IntResourceType}, Kind: "q-primary",
		}], 0)

		// Who comes later is told of rates as well.
		late := w.watch()
		defer late.Close()

		events = w.next(late)
		require.Len(t, events, 2)
		require.Len(t, decode[api.Change](w, events[1], api.EventChange).Passes, 1)

		l.Apply(decode[api.Change](w, w.next(s)[0], api.EventChange))
		assert.Empty(t, l.Passes)
		assert.Empty(t, l.Wakeups)
		assert.Empty(t, l.Writes)

		// Nothing happens, and the stream lets hear of itself.
		began := time.Now()

		require.Empty(t, w.next(s))
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

// Of passes that are forgotten before anybody looks, rates are as if they had been like the others.
func TestRatesOfWhatIsForgotten(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.watch()
		defer s.Close()

		l := api.NewLive(decode[api.Overview](w, w.next(s)[0], api.EventOverview))

		w.write(0, 100)

		l.Apply(decode[api.Change](w, w.next(s)[0], api.EventChange))
		assert.InDelta(t, 100, l.Passes[copies], 0)

		for _, rate := range l.Wakeups[copies] {
			assert.InDelta(t, 100, rate, 0.5)
		}

		require.Len(t, l.Wakeups[copies], 1)
	})
}

// The engine is looked at by one for all, and only while somebody watches.
func TestNobodyLooksWhenNobodyWatches(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		for range 3 {
			time.Sleep(time.Hour)

			before := w.engine.looks.Load()
			a, b := w.watch(), w.watch()

			synctest.Wait()
			time.Sleep(10*time.Second + time.Millisecond)
			synctest.Wait()
			assert.EqualValues(t, 11, w.engine.looks.Load()-before)

			a.Close()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			assert.EqualValues(t, 21, w.engine.looks.Load()-before)

			b.Close()
			synctest.Wait()
			time.Sleep(time.Hour)
			assert.EqualValues(t, 21, w.engine.looks.Load()-before)
		}
	})
}

func TestStreamsAreBounded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var all []*live.Watch
		for range 7 {
			all = append(all, w.watch())
		}

		f, err := w.hub.Follow("")
		require.NoError(t, err)

		_, err = w.hub.Watch()
		require.ErrorIs(t, err, live.ErrCrowded)

		_, err = w.hub.Follow("")
		require.ErrorIs(t, err, live.ErrCrowded)

		f.Close()
		f.Close()

		all = append(all, w.watch())

		// Close lets everybody know, and nobody in any more.
		done := make(chan error, len(all))

		for _, s := range all {
			go func() { // done waits for it
				for {
					if _, err := s.Next(t.Context()); err != nil {
						done <- err

						return
					}
				}
			}()
		}

		synctest.Wait()
		w.hub.Close()
		w.hub.Close()

		for _, s := range all {
			require.ErrorIs(t, <-done, live.ErrClosed)
			s.Close()
		}

		_, err = w.hub.Watch()
		require.ErrorIs(t, err, live.ErrClosed)
	})
}

func TestAStreamEndsWithItsContext(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		s := w.watch()
		defer s.Close()

		f, err := w.hub.Follow("")
		require.NoError(t, err)

		defer f.Close()

		w.next(s)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()

		_, err = s.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)

		_, err = f.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// However slow somebody is, what he is told adds up to what there is.
func TestSlowOrNot(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		rnd := rand.New(rand.NewPCG(1, 2))
		streams, lives := make([]*live.Watch, 4), make([]*api.Live, 4)

		catchUp := func(i int) {
			for _, e := range w.next(streams[i]) {
				if lives[i] == nil {
					lives[i] = api.NewLive(decode[api.Overview](w, e, api.EventOverview))
				} else {
					lives[i].Apply(decode[api.Change](w, e, api.EventChange))
				}
			}
		}

		for i := range streams {
			streams[i] = w.watch()
			catchUp(i)
		}

		registered := 0

		for round := range 60 {
			switch rnd.IntN(4) {
			case 0:
				w.write(round*100, rnd.IntN(20))
			case 1:
				registered++
				require.NoError(t, w.engine.RegisterQController(&named{fmt.Sprintf("extra %d", registered)}))
			case 2:
				if registered > 0 {
					require.NoError(t, w.engine.Unregister(t.Context(), fmt.Sprintf("extra %d", registered)))

					registered--
				}
			}

			time.Sleep(time.Second + time.Millisecond)
			synctest.Wait()
			catchUp(0)

			if round%7 == 0 {
				catchUp(1)
			}

			if round == 30 {
				catchUp(2)
			}
		}

		w.write(100_000, 1)
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()

		fresh := w.watch()
		events := w.next(fresh)
		want := api.NewLive(decode[api.Overview](w, events[0], api.EventOverview))
		want.Apply(decode[api.Change](w, events[1], api.EventChange))

		for i, s := range streams {
			catchUp(i)
			assert.Equal(t, want, lives[i], "stream %d", i)
			s.Close()
		}

		fresh.Close()
	})
}

// named is a controller that does nothing.
type named struct{ name string }

func (c *named) Name() string { return c.name }

func (*named) Settings() controller.QSettings {
	return controller.QSettings{Inputs: []controller.Input{{Namespace: "source", Type: conformance.IntResourceType, Kind: controller.InputQPrimary}}}
}

func (*named) Reconcile(context.Context, *zap.Logger, controller.QRuntime, resource.Pointer) error {
	return nil
}

func (*named) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// copier makes a text of each number.
type copier struct{ named }

func (*copier) Settings() controller.QSettings {
	settings := (*named)(nil).Settings()
	settings.Outputs = []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputExclusive}}

	return settings
}

func (*copier) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	return r.Create(ctx, conformance.NewStrResource("target", ptr.ID(), ""))
}

// Passes are told when they have ended, those of before are not, and those of which nobody can be told are counted.
func TestFollow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		require.NoError(t, w.engine.RegisterQController(&named{"other"}))
		w.write(0, 4)

		all, err := w.hub.Follow("")
		require.NoError(t, err)

		defer all.Close()

		own, err := w.hub.Follow("other")
		require.NoError(t, err)

		defer own.Close()

		synctest.Wait()
		w.write(10, 2)

		events := w.next(all)
		require.Len(t, events, 4)

		for _, e := range events {
			require.Equal(t, "succeeded", decode[api.Pass](w, e, api.EventPass).Outcome)
		}

		events = w.next(own)
		require.Len(t, events, 2)
		require.Equal(t, "other", decode[api.Pass](w, events[0], api.EventPass).Controller)

		// Eight passes are remembered.
		w.write(20, 50)

		events = w.next(own)
		require.Len(t, events, 1+8)

		dropped := decode[api.Dropped](w, events[0], api.EventDropped)
		require.EqualValues(t, 42, dropped.Passes)
		require.Equal(t, []api.DroppedPart{{Controller: "other", Passes: 42}}, dropped.Controllers)
		require.Contains(t, dropped.Why, "forgotten")
	})
}

// Who does not read is told how much he has missed, and nothing is kept for him meanwhile.
func TestASlowFollower(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		slow, err := w.hub.Follow(copies)
		require.NoError(t, err)

		defer slow.Close()

		synctest.Wait()

		for i := range 20 {
			w.write(i*10, 3)
			time.Sleep(time.Second)
			synctest.Wait()
		}

		told, dropped := 0, uint64(0)

		for range 4 {
			told += len(w.next(slow))
		}

		w.write(1000, 1)

		for _, e := range w.next(slow) {
			if e.name == api.EventPass {
				told++
			} else {
				dropped += decode[api.Dropped](w, e, api.EventDropped).Passes
			}
		}

		assert.Equal(t, 4*3+1, told)
		assert.EqualValues(t, 16*3, dropped)
	})
}
