package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/backoff"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// unsyncedWarning is when to say for the first time that the first contents of a kind have not come.
	unsyncedWarning = 5 * time.Second
	// resumeTries is how often a refused bookmark is tried again before the kind is listed anew, for states that do not
	// tell a bookmark that is too old from a broken connection.
	resumeTries = 2
	// steady is how long a watch must have been open for its next failure to count as the first one again.
	steady = 5 * time.Second
)

// Ends of a session that are not failures.
var (
	errTracking = errors.New("the known keys are to be tracked from now on")
	errAudit    = errors.New("audit")
	errAnew     = errors.New("all contents are to be loaded once more")
	errRefused  = errors.New("the bookmark was refused, the watch begins anew")
)

// onPurpose tells whether the session was ended by the engine itself, to be opened anew.
func onPurpose(err error) bool {
	return errors.Is(err, errTracking) || errors.Is(err, errAudit) || errors.Is(err, errAnew)
}

// watch keeps one kind watched: it opens the state's watch, and opens it again whenever it breaks. It runs in one
// goroutine, which calls [watch.step] again and again.
type watch struct {
	set  *watches
	kind reduced.Kind

	cancel context.CancelFunc
	// opened is closed when the first attempt to open the watch has come to an end, either way.
	opened chan struct{}
	// ended is closed when the watch has ended for good.
	ended chan struct{}
	// retrack is set when the session is to be opened anew because keys are to be tracked, and anew when all contents are to be
	// loaded once more. Noticed holds a signal when one of them was set, or there is something else for the session to do.
	retrack, anew atomic.Bool
	noticed       chan struct{}

	// telling is held while a part of what has come is taken in and told of. It is shared with the watch of the kind that was
	// closed before, if that has not ended yet: what that still holds must not be told after something newer.
	telling *sync.Mutex

	// mu guards the fields below, and the writer's side of the table's collection.
	mu      sync.Mutex
	table   *table
	synced  bool // the table is complete, or none is needed and the watch has been open
	open    bool
	err     error // why it is not open
	attempt int
	next    time.Time
	// bookmark is up to where the table has come, loads counts the loads of all contents that were begun.
	bookmark state.Bookmark
	loads    int
	fences   map[*fence]struct{}
	// comparable tells that the bookmark of a fence has come by once, so that others probably will.
	comparable bool
	// auditing is the audit of the session, which is to know what the stream shows.
	auditing *audit

	// The fields below belong to the goroutine. The way is that of the changes of the kind.
	way     dependency.Way[*entry]
	refused int  // failures in a row to resume from the bookmark
	single  bool // ask for events one by one next time
	// behindhand is how many audits in a row have found that contents were not coming. They may be all in one message that
	// takes longer, so each time the next ones get twice as long.
	behindhand int
	// auditDue is when the next audit is due. Audited is closed when the last one has let go of the state: there is no other
	// before.
	auditDue time.Time
	audited  <-chan struct{}
	// doubted is what an audit has all contents loaded for, and disputed what was no other after that.
	doubted  []difference
	disputed map[resource.ID]difference
	tried    bool // a session was begun before
	began    time.Time
	exited   error // set when the state has ended the goroutine
	retry    *backoff.Retry

	// audits counts the goroutine of an audit. The watch waits for it at its end.
	audits sync.WaitGroup
}

// step is one session with what follows it; it tells whether there is to be another. There is until the context ends or,
// under the policy for it, until the watch fails.
func (w *watch) step(ctx context.Context) bool {
	err := w.exited
	w.exited = nil

	if err == nil {
		w.began = w.set.cfg.Clock.Now()
		err = contain.Call(func() error { return w.session(ctx) })
	}

	switch {
	case ctx.Err() != nil:
		return false
	case errors.As(err, new(*contain.PanicError)) || errors.Is(err, contain.ErrGoexit):
		err = fmt.Errorf("the state failed under the watch of %s: %w", w.kind, err)
	case onPurpose(err) || errors.Is(err, errRefused):
		w.set.logger.Debug("watch is opened anew", zap.Stringer("kind", w.kind), zap.NamedError("reason", err))

		return true
	}

	attempt, delay := w.retry.Failed(w.set.cfg.Clock.Since(w.began))
	next := w.set.cfg.Clock.Now().Add(delay)

	// The run has its failure before others can see it: who waits for the watch ends the run as well.
	if w.set.cfg.OnWatchFailure == EndRun {
		w.set.fail(err)
		w.failed(err, attempt, next)

		return false
	}

	w.failed(err, attempt, next)

	w.set.failures.Inc()
	w.set.logger.Warn("watch failed and will be resumed", append(contain.Fields(err), zap.Stringer("kind", w.kind),
		zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)

	w.firstAttempted()

	return backoff.Sleep(ctx, w.set.cfg.Clock, delay)
}

// closed ends the watch for good.
func (w *watch) closed() {
	w.firstAttempted()
	close(w.ended)

	w.mu.Lock()
	defer w.mu.Unlock()

	w.open = false
}

// firstAttempted lets those go on who wait for the first attempt.
func (w *watch) firstAttempted() {
	select {
	case <-w.opened:
	default:
		close(w.opened)
	}
}

func (w *watch) failed(err error, attempt int, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.open, w.err, w.attempt, w.next = false, err, attempt, next
}

// session opens the watch and follows it until it breaks, and returns why it did.
func (w *watch) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	s := &session{watch: w, late: w.tried}
	w.tried = true

	w.mu.Lock()
	w.retrack.Store(false)

	s.table = w.table
	s.resumes = w.bookmark != nil && (s.table == nil || w.synced)
	s.loads = s.table != nil && !s.resumes
	s.relists = s.loads && w.synced

	if s.loads {
		w.loads++
	}
	w.mu.Unlock()

	err := s.connect(ctx)
	if err != nil {
		err = fmt.Errorf("opening the watch of %s: %w", w.kind, err)
	} else {
		w.connected(s)

		err = s.follow(ctx)
	}

	if s.resumes && ctx.Err() == nil && w.refuses(s, err) {
		w.mu.Lock()
		w.bookmark, w.refused = nil, 0
		w.mu.Unlock()

		return fmt.Errorf("%w: %w", errRefused, err)
	}

	return err
}

// refuses tells whether the end of a session that was resumed means that its bookmark is of no use any more: the state
// says so, or has failed several times in a row before anything came. A state may say so only after it has opened the
// watch.
func (w *watch) refuses(s *session, err error) bool {
	switch {
	case state.IsInvalidWatchBookmarkError(err):
		return true
	case onPurpose(err):
		return false
	case s.moved || s.open && w.set.cfg.Clock.Since(w.began) >= steady:
		w.refused = 0

		return false
	}

	w.refused++

	return w.refused >= resumeTries
}

// connected records that the watch is open. Where it is neither resumed nor loads all contents, nobody can tell which
// changes were missed before it was open.
func (w *watch) connected(s *session) {
	s.open = true

	w.mu.Lock()
	w.open, w.err, w.next = true, nil, time.Time{}

	if w.table == nil || w.table == s.table && !s.loads {
		w.synced = true
	}
	w.mu.Unlock()

	if !s.resumes && !s.loads && s.late {
		w.set.missed(w.kind, nil)
	}

	w.firstAttempted()
}

// track has the known keys of the kind tracked, or no longer.
func (w *watch) track(wanted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	switch {
	case wanted && w.table == nil:
		w.table, w.synced = newTable(nil), false
		w.retrack.Store(true)
		w.notify()
	case !wanted && w.table != nil && w.table.cached == nil:
		w.table = nil
	}
}

// notify has the session look what there is to do.
func (w *watch) notify() {
	select {
	case w.noticed <- struct{}{}:
	default:
	}
}

// notifyAtEnd has the session look when the context ends. The function that it returns takes that back, or waits until it is done.
func (w *watch) notifyAtEnd(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	takeBack := context.AfterFunc(ctx, func() {
		defer close(done)

		w.notify()
	})

	return func() {
		if !takeBack() {
			<-done
		}
	}
}

// fill returns the ids of the known keys that match. What the first contents show later is filled in then; where the kind is cached,
// that is all.
func (w *watch) fill(whole bool, ids []resource.ID) []resource.ID {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.table == nil || w.table.cached != nil && !w.synced {
		return nil
	}

	return w.table.ids(whole, ids)
}
