package runtime_test

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
)

// revised is a state whose bookmarks count the changes of all kinds: that of a stream without events grows with what
// happens elsewhere.
type revised struct {
	state.CoreState

	revision atomic.Uint64
}

func (r *revised) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	r.revision.Add(1)

	return r.CoreState.Create(ctx, res, opts...)
}

func (r *revised) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan state.Event)
	if err := r.CoreState.WatchKind(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go passed(ctx, inner, ch, r.revise)

	return nil
}

func (r *revised) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan []state.Event)
	if err := r.CoreState.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go passed(ctx, inner, ch, func(batch []state.Event) []state.Event {
		for i := range batch {
			batch[i] = r.revise(batch[i])
		}

		return batch
	})

	return nil
}

// revise gives an event that is not a change the bookmark of the whole state.
func (r *revised) revise(event state.Event) state.Event {
	if event.Type == state.Noop || event.Type == state.Bootstrapped {
		event.Bookmark = binary.BigEndian.AppendUint64(nil, r.revision.Load())
	}

	return event
}

// passed passes on what comes, changed.
func passed[E any](ctx context.Context, from <-chan E, to chan<- E, change func(E) E) {
	for {
		select {
		case <-ctx.Done():
			return
		case sent := <-from:
			select {
			case to <- change(sent):
			case <-ctx.Done():
				return
			}
		}
	}
}

// Where bookmarks count changes of other kinds, one of them may come by, and the next one never will.
func TestBarrierWhereBookmarksCountOtherKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, state.WrapCore(&revised{CoreState: newState()}), cachedSources(), nil)
		kind := newSource("", 0).Metadata()

		w.start()
		synctest.Wait()

		for id := range 3 {
			done := barrier(t.Context(), w, kind)

			elapse(time.Minute)
			require.NoError(t, <-done, "the bookmark of the state is the one of the contents")

			w.create(newTarget(resource.ID(rune('a'+id)), 1))
			done = barrier(t.Context(), w, kind)

			elapse(time.Minute)

			select {
			case err := <-done:
				require.NoError(t, err)
			default:
				require.Fail(t, "the barrier waits for a bookmark that never comes by")
			}
		}
	})
}

// A bookmark that comes with a part of the contents says nothing about the rest of them.
func TestBookmarksOfContents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		marked := func(event state.Event, mark byte) state.Event {
			event.Bookmark = state.Bookmark{mark}

			return event
		}

		kept := created("kept", 1)

		st := &script{State: newState()}
		st.call = func(ctx context.Context, n int, ch chan<- []state.Event, opts state.WatchKindOptions) error {
			failure := []state.Event{{Type: state.Errored, Error: errBroken}}

			switch {
			case n == 0:
				return play(ctx, ch, []state.Event{created("ghost", 1), kept, marked(bootstrapped, 1)}, failure)
			case opts.StartFromBookmark != nil && opts.StartFromBookmark[0] == 1:
				return errForgotten
			case opts.StartFromBookmark != nil: // there is nothing after the contents
				return nil
			case n == 2:
				return play(ctx, ch, []state.Event{marked(kept, 2)}, failure)
			default:
				return play(ctx, ch, []state.Event{marked(kept, 2), marked(created("late", 1), 2), marked(bootstrapped, 2)})
			}
		}

		w := newWorld(t, st, cachedSources(), nil)
		seen := w.reconcilesSources()

		w.start()
		time.Sleep(time.Hour)

		list, err := w.CachedState().List(t.Context(), sourcePtr(""))
		require.NoError(t, err)

		var ids []resource.ID
		for _, res := range list.Items {
			ids = append(ids, res.Metadata().ID())
		}

		require.Equal(t, []resource.ID{"kept", "late"}, ids)
		require.ElementsMatch(t, []resource.ID{"ghost", "kept", "late", "ghost"}, seen.all())
		w.end()
	})
}
