package runtime

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// fencePatience is how long to wait for the bookmark of a fence before the contents are compared instead. The bookmarks
// of some states count changes of other kinds too, and need never come up in the stream of this one.
const fencePatience = 20 * time.Millisecond

// Barrier returns when the caches of the kinds show everything that was written before the call, by anybody, or when the
// context ends, with its error. It is for decisions that combine several kinds, or rest on what others have just written.
//
// It costs a short watch for each kind, and a list of the state where that does not tell enough. Kinds that are not
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
			if err := w.pass(ctx, c); err != nil {
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

	_, passed := f.passed[string(bookmark)]

	return passed && len(bookmark) > 0 || f.loaded
}

// pass returns when the cache shows what the state shows now.
func (w *watch) pass(ctx context.Context, c *cache.Collection) error {
	f := w.fence()
	defer w.takeDown(f)

	patience := w.set.cfg.Clock.NewTimer(fencePatience)
	defer patience.Stop()

	bookmark, err := w.newestBookmark(ctx, patience.Chan())

	for err == nil && !w.reached(f, bookmark) {
		if len(bookmark) == 0 {
			return w.compare(ctx, c, f)
		}

		select {
		case <-f.moved:
		case <-patience.Chan():
			return w.compare(ctx, c, f)
		case <-ctx.Done():
			return ctx.Err()
		case <-w.ended:
			return nil
		}
	}

	return err
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

// incarnation is a resource at a version, or, at version 0, its absence after that incarnation.
type incarnation struct {
	created int64
	version uint64
}

func incarnationOf(res resource.Resource) incarnation {
	md := res.Metadata()

	return incarnation{md.Created().UnixNano(), md.Version().Value()}
}

// compare lists the state and returns when the cache shows all of it, or what came later.
func (w *watch) compare(ctx context.Context, c *cache.Collection, f *fence) error {
	list, err := w.set.state.List(ctx, w.kind.Pointer())
	if err != nil {
		return err
	}

	wanted := make(map[resource.ID]incarnation, len(list.Items))
	for _, res := range list.Items {
		wanted[res.Metadata().ID()] = incarnationOf(res)
	}

	view, ok, err := c.View(ctx, "Barrier")
	if !ok {
		return err
	}

	for res := range view.All() {
		if _, listed := wanted[res.Metadata().ID()]; !listed {
			wanted[res.Metadata().ID()] = incarnation{created: incarnationOf(res).created}
		}
	}

	return w.await(ctx, c, f, wanted)
}

// await returns when the cache shows what is wanted. What it shows in another incarnation may be older or newer; that is
// asked of the state again from time to time.
func (w *watch) await(ctx context.Context, c *cache.Collection, f *fence, wanted map[resource.ID]incarnation) error {
	patience := fencePatience

	again := w.set.cfg.Clock.NewTimer(patience)
	defer again.Stop()

	for {
		view, ok, err := c.View(ctx, "Barrier")
		if !ok {
			return err
		}

		for id, want := range wanted {
			shown := incarnation{}
			if res, there := view.Lend(id); there {
				shown = incarnationOf(res)
			}

			if want.version == 0 && shown.created != want.created || want.version > 0 && shown.created == want.created && shown.version >= want.version {
				delete(wanted, id)
			}
		}

		if len(wanted) == 0 {
			return nil
		}

		select {
		case <-f.moved:
		case <-again.Chan():
			if err = w.askAgain(ctx, view, wanted); err != nil {
				return err
			}

			patience = min(2*patience, time.Second)
			again.Reset(patience)
		case <-ctx.Done():
			return ctx.Err()
		case <-w.ended:
			return nil
		}
	}
}

func (w *watch) askAgain(ctx context.Context, view cache.View, wanted map[resource.ID]incarnation) error {
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		res, err := w.set.state.Get(ctx, reduced.Key{Kind: w.kind, ID: id}.Pointer())

		switch {
		case err == nil:
			wanted[id] = incarnationOf(res)
		case !state.IsNotFoundError(err):
			return err
		default:
			shown, there := view.Lend(id)
			if !there {
				delete(wanted, id)

				continue
			}

			wanted[id] = incarnation{created: incarnationOf(shown).created}
		}
	}

	return nil
}
