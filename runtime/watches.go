package runtime

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"

	"github.com/switchyard-run/switchyard/backoff"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
)

// watches holds the open watches, one for each kind that a controller or the cache needs.
type watches struct {
	cfg    Config
	state  state.State
	cache  *cache.Cache
	intake *intake
	logger *zap.Logger

	// needs tells what the declarations ask of a kind.
	needs func(reduced.Kind) (watched, tracked bool)
	// fail ends the engine with the failure of a watch.
	fail func(error)
	// first is called with ids that the first contents of a kind have shown, and fill when all of the kind are to be had
	// at once, but for those that have been told of.
	first func(kind reduced.Kind, ids []resource.ID)
	fill  func(kind reduced.Kind, told map[reduced.Key]struct{})
	// loaded is called when all contents of a kind were loaded, before anybody is told.
	loaded func(kind reduced.Kind)
	// missed is called when changes of a kind may have been missed and nobody can tell which, but for those told of.
	missed func(kind reduced.Kind, told map[reduced.Key]struct{})
	// relisted is called when those were told who depend on a kind of how a list of it differs from what was known.
	relisted func(kind reduced.Kind)

	failures, relists, audits, missedChanges *metrics.Counter

	running sync.WaitGroup

	// mu guards the fields below. The context is that of the engine's run; nil while it does not run. Alive holds those
	// that were closed as well, until their goroutine has ended.
	mu    sync.Mutex
	ctx   context.Context
	open  map[reduced.Kind]*watch
	alive map[*watch]struct{}
	// closing are those that were closed last and have not ended yet, by kind.
	closing map[reduced.Kind]*watch
}

// start lets watches be opened until the context ends.
func (s *watches) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.ctx = ctx
	s.open = map[reduced.Kind]*watch{}
	s.alive = map[*watch]struct{}{}
	s.closing = map[reduced.Kind]*watch{}
}

// wait returns when all watches have ended, after the end of the context.
func (s *watches) wait() {
	s.mu.Lock()
	s.ctx = nil
	s.mu.Unlock()

	s.running.Wait()
}

// adjust opens and closes watches of the kinds, and starts and ends the tracking of their keys, as the declarations and
// the cache need it. While the engine does not run, it does nothing.
func (s *watches) adjust(kinds []reduced.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.ctx == nil {
		return
	}

	for _, kind := range kinds {
		watched, tracked := s.needs(kind)
		tracked = tracked || s.cfg.AuditInterval > 0 // there has to be something to compare
		cached := s.cache.Collection(kind)
		w := s.open[kind]

		switch {
		case !watched && cached == nil:
			if w != nil {
				delete(s.open, kind)
				s.closing[kind] = w
				w.cancel()
			}
		case w == nil:
			s.openLocked(kind, tracked, cached)
		default:
			w.track(tracked || cached != nil)
		}
	}
}

func (s *watches) openLocked(kind reduced.Kind, tracked bool, cached *cache.Collection) {
	ctx, cancel := context.WithCancel(s.ctx)

	w := &watch{
		set: s, kind: kind, cancel: cancel, opened: make(chan struct{}), ended: make(chan struct{}),
		noticed: make(chan struct{}, 1), retry: backoff.NewRetry(s.cfg.WatchBackoff, steady, backoff.NewRandom(s.cfg.Seed, kind.String()).Float64),
	}

	if before := s.closing[kind]; before != nil {
		w.telling = before.telling
	} else {
		w.telling = &sync.Mutex{}
	}

	if tracked || cached != nil {
		w.table = newTable(cached)
	}

	s.open[kind] = w
	s.alive[w] = struct{}{}

	contain.Loop(&s.running, func() bool {
		pprof.SetGoroutineLabels(ctx) // not those of a controller that has it opened

		if w.step(ctx) {
			return true
		}

		cancel()
		w.closed()
		w.audits.Wait()
		s.ended(w)

		return false
	}, func() { w.exited = contain.ErrGoexit })
}

func (s *watches) ended(w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()

	delete(s.alive, w)

	if s.closing[w.kind] == w {
		delete(s.closing, w.kind)
	}
}

// stillAlive returns the kinds whose watch has not ended, in order.
func (s *watches) stillAlive() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	var kinds []string

	for w := range s.alive {
		kinds = append(kinds, w.kind.String())
	}

	slices.Sort(kinds)

	return kinds
}

// attempted returns when the first attempt to open the watch of each kind has come to an end, or the context has. It
// returns the failure of the first kind that could not be opened, of those that were attempted.
func (s *watches) attempted(ctx context.Context, kinds []reduced.Kind) error {
	var failed error

	for _, kind := range kinds {
		w := s.get(kind)
		if w == nil {
			continue
		}

		select {
		case <-w.opened:
		case <-ctx.Done():
			return failed
		}

		w.mu.Lock()
		if failed == nil {
			failed = w.err
		}
		w.mu.Unlock()
	}

	return failed
}

// opened tells whether there is a watch of each kind, and the first attempt to open it has come to an end: then there is nothing
// to be done for who wants no more than to be woken, and has said so already.
func (s *watches) opened(kinds []reduced.Kind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, kind := range kinds {
		w := s.open[kind]
		if w == nil {
			return false
		}

		select {
		case <-w.opened:
		default:
			return false
		}
	}

	return true
}

// ready tells whether attempted would return at once.
func (s *watches) ready(kinds []reduced.Kind) bool {
	for _, kind := range kinds {
		w := s.get(kind)
		if w == nil {
			continue
		}

		select {
		case <-w.opened:
		default:
			return false
		}
	}

	return true
}

func (s *watches) get(kind reduced.Kind) *watch {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.open[kind]
}

// all returns the open watches in order of kind.
func (s *watches) all() []*watch {
	s.mu.Lock()
	defer s.mu.Unlock()

	all := make([]*watch, 0, len(s.open))

	for _, w := range s.open {
		all = append(all, w)
	}

	slices.SortFunc(all, func(a, b *watch) int { return a.kind.Compare(b.kind) })

	return all
}

// waiting returns the names of those who wait for the first contents of a cached kind.
func (s *watches) waiting(kind reduced.Kind) []string {
	if c := s.cache.Collection(kind); c != nil {
		return c.Waiting()
	}

	return nil
}
