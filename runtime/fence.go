package runtime

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// fencePatience is how long to wait for the bookmark of a fence before all contents are loaded anew instead, while no
	// fence of the watch has ever seen its bookmark come by. The bookmarks of some states count changes of other kinds too,
	// and need never come up in the stream of this one.
	fencePatience = 20 * time.Millisecond
	// fenceTrust is how long to wait where one has come by: a watch that is behind mostly needs less to catch up than all
	// contents do, but of those states a bookmark comes by now and then, and says nothing about the next one.
	fenceTrust = time.Second
)

// Barrier returns when the caches of the kinds show everything that was written before the call, by anybody, or when the
// context ends, with its error. It is for decisions that combine several kinds, or rest on what others have just written.
//
// It costs a short watch for each kind, and a load of all contents where that does not tell enough. Kinds that are not
// cached, and an engine that does not run, are read from the state, and need no waiting.
func (r *Runtime) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	for _, kind := range kinds {
		kind := reduced.KindOf(kind)

		c := r.cache.Collection(kind)
		if c == nil {
			continue
		}

		// The first contents may be older than the call.
		if _, ok, err := c.View(ctx, "Barrier"); !ok {
			if err != nil {
				return fmt.Errorf("barrier of %s: %w", kind, err)
			}

			continue
		}

		if w := r.watches.get(kind); w != nil {
			if err := w.pass(ctx); err != nil {
				return fmt.Errorf("barrier of %s: %w", kind, err)
			}
		}
	}

	return nil
}

// fence waits for a watch to come up with the state.
type fence struct {
	// passed are the bookmarks that the watch has come by since the fence was put up, and loads how many loads it had
	// begun by then; guarded by the lock of the watch.
	passed map[string]struct{}
	loads  int
	// loaded tells that a load has ended that was begun after the fence was put up.
	loaded bool
	// moved holds a signal when the watch has moved on.
	moved chan struct{}
}

// fence puts up a fence.
func (w *watch) fence() *fence {
	f := &fence{passed: map[string]struct{}{}, moved: make(chan struct{}, 1)}

	w.mu.Lock()
	defer w.mu.Unlock()

	f.loads = w.loads

	if len(w.bookmark) > 0 {
		f.passed[string(w.bookmark)] = struct{}{}
	}

	if w.fences == nil {
		w.fences = map[*fence]struct{}{}
	}

	w.fences[f] = struct{}{}

	return f
}

func (w *watch) takeDown(f *fence) {
	w.mu.Lock()
	defer w.mu.Unlock()

	delete(w.fences, f)
}

// passLocked tells the fences which bookmark the watch has come by, and that all contents were loaded.
func (w *watch) passLocked(bookmark state.Bookmark, loaded bool) {
	for f := range w.fences {
		if len(bookmark) > 0 {
			f.passed[string(bookmark)] = struct{}{}
		}

		f.loaded = f.loaded || loaded && w.loads > f.loads

		select {
		case f.moved <- struct{}{}:
		default:
		}
	}
}

// reached tells whether the watch has come by the bookmark, or has loaded everything since.
func (w *watch) reached(f *fence, bookmark state.Bookmark) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	if _, passed := f.passed[string(bookmark)]; passed && len(bookmark) > 0 {
		w.comparable = true

		return true
	}

	return f.loaded
}

// pass returns when the cache shows what the state shows now.
func (w *watch) pass(ctx context.Context) error {
	f := w.fence()
	defer w.takeDown(f)

	patience := w.set.cfg.Clock.NewTimer(fencePatience)
	defer patience.Stop()

	trusted := false

	bookmark, err := w.newestBookmark(ctx, patience.Chan())
	if err != nil {
		return err
	}

	if len(bookmark) == 0 {
		w.loadAnew()
	}

	for !w.reached(f, bookmark) {
		select {
		case <-f.moved:
		case <-patience.Chan():
			if !trusted && w.compares() {
				trusted = true
				patience.Reset(fenceTrust)
			} else {
				w.loadAnew()
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-w.ended:
			return nil
		}
	}

	return nil
}

// compares tells whether the bookmark of a fence has ever come by.
func (w *watch) compares() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.comparable
}

// loadAnew has all contents loaded once more, after those that are being loaded now.
func (w *watch) loadAnew() {
	w.anew.Store(true)
	w.notify()
}

// newestBookmark asks the state where its stream of the kind is now. It returns none if the state does not say.
func (w *watch) newestBookmark(ctx context.Context, giveUp <-chan time.Time) (state.Bookmark, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	events := make(chan state.Event)

	if err := w.set.state.WatchKind(ctx, w.kind.Pointer(), events, state.WithBootstrapBookmark(true)); err != nil {
		return nil, err
	}

	select {
	case event := <-events:
		if event.Type == state.Errored {
			return nil, event.Error
		}

		return event.Bookmark, nil
	case <-giveUp:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.ended:
		return nil, nil
	}
}
