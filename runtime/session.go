package runtime

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// atOnce is how many events of a batch are taken in before others are told of them.
	atOnce = 512
	// mostBehindhand is how often contents may be given twice the time to come before an audit.
	mostBehindhand = 10
)

// session is one open watch, from connecting to the moment it breaks. There are three ways to open it: resumed from a
// bookmark, loading all contents, or from now on. Loaded contents are the first ones of the table, or are compared with
// it where it is complete already, which is called a re-list.
type session struct {
	watch *watch
	// table is the watch's when the session was begun: one that came later is not for this session to fill.
	table *table

	resumes bool // from the bookmark
	loads   bool // all contents come first
	relists bool // and are compared with a complete table
	late    bool // it is not the first attempt, so changes may have been missed before it

	open  bool // the state has opened the watch
	moved bool // and events have come
	alive bool // also since the last audit

	// batches or singles is there, whichever was asked for.
	batches chan []state.Event
	singles chan state.Event

	// loading is set until the contents are complete. Shown counts what they have shown so far; seen are its ids, where
	// there was something in the table before that may have gone.
	loading bool
	shown   int
	seen    map[resource.ID]struct{}
	// changes and first are the buffers for what a part of a batch comes to: changes, and the ids that first contents show.
	changes    []reduced.Metadata
	first      []resource.ID
	tombstones reduced.Tombstones
}

// connect opens the state's watch. A load that failed is tried with single events the next time, and then again with
// aggregated ones: a state may not be able to pass all contents of a large kind in one message.
func (s *session) connect(ctx context.Context) error {
	w := s.watch

	var opts []state.WatchKindOption

	switch {
	case s.resumes:
		opts = append(opts, state.WithKindStartFromBookmark(w.bookmark))
	case s.loads:
		opts = append(opts, state.WithBootstrapContents(true))
		s.table.load()
		s.loading = true

		if s.relists || s.table.len() > 0 {
			s.seen = map[resource.ID]struct{}{}
		}
	default:
		opts = append(opts, state.WithBootstrapBookmark(true))
	}

	if s.loads && w.single {
		w.single = false

		s.singles = make(chan state.Event)

		return w.set.state.WatchKind(ctx, w.kind.Pointer(), s.singles, opts...)
	}

	w.single = s.loads
	s.batches = make(chan []state.Event)

	return w.set.state.WatchKindAggregated(ctx, w.kind.Pointer(), s.batches, opts...)
}

// follow takes events until the watch breaks, and returns why. Whatever else there may be to do comes by one channel: each more
// takes time when an event comes.
func (s *session) follow(ctx context.Context) error {
	w := s.watch
	clock := w.set.cfg.Clock

	var (
		patient  clockwork.Timer
		unsynced <-chan time.Time
	)

	if s.loads && !s.relists {
		patient = clock.NewTimer(unsyncedWarning)
		defer patient.Stop()

		unsynced = patient.Chan()
	}

	auditor := newAuditor(s)
	defer auditor.stop()

	defer w.notifyAtEnd(ctx)()

	w.notify() // of what there was to do before

	for patience := unsyncedWarning; ; {
		var err error

		if !s.loading {
			unsynced = nil
		}

		select {
		case batch, ok := <-s.batches:
			if !ok {
				return fmt.Errorf("the state has closed the channel of the watch of %s", w.kind)
			}

			err = s.take(ctx, batch)
		case event, ok := <-s.singles:
			if !ok {
				return fmt.Errorf("the state has closed the channel of the watch of %s", w.kind)
			}

			err = s.take(ctx, []state.Event{event})
		case <-w.noticed:
			err = s.notice(ctx, auditor)
		case <-unsynced:
			w.warnUnsynced(patience)

			patience *= 2
			patient.Reset(patience)
		}

		if err != nil {
			return err
		}
	}
}

// notice does what there is to do beside taking events.
func (s *session) notice(ctx context.Context, auditor *auditor) error {
	w := s.watch

	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.retrack.Load():
		return errTracking
	case !s.loading && w.anew.CompareAndSwap(true, false): // first come the contents that are being loaded
		return w.beginAnew()
	}

	return auditor.look(ctx)
}

func (w *watch) warnUnsynced(after time.Duration) {
	waiting := w.set.waiting(w.kind)

	w.set.logger.Warn("the first contents of a kind have not come yet: its readers wait, its queue controllers do not have all their items",
		zap.Stringer("kind", w.kind), zap.Duration("after", after), zap.Strings("waiting", waiting))
}

// take takes in a batch of events, in parts, so that work on the first ones begins while the last ones are taken in.
func (s *session) take(ctx context.Context, batch []state.Event) error {
	if len(batch) <= atOnce {
		return s.takePart(ctx, batch)
	}

	for part := range slices.Chunk(batch, atOnce) {
		if err := s.takePart(ctx, part); err != nil {
			return err
		}
	}

	return nil
}

// takePart brings the table up to date, and puts what it comes to into the intake. The cache shows a change before
// anybody can be woken for it.
func (s *session) takePart(ctx context.Context, part []state.Event) error {
	s.watch.telling.Lock()
	defer s.watch.telling.Unlock()

	if ctx.Err() != nil {
		return ctx.Err() // nobody reads any more, and nobody is to be woken
	}

	s.changes, s.first = s.changes[:0], s.first[:0]

	loading := s.loading

	// What came before a bad event is in the table already, and must not be lost with it, however bad it is.
	err := contain.Call(func() error { return s.apply(part) })

	s.tell(loading && !s.loading)

	if cap(s.changes) > keepPending {
		s.changes = nil
	}

	if !s.loading {
		s.first = nil // there will be no more
	}

	return err
}

// tell has those told whom a part concerns. A resource that the contents have shown, and that has changed since, is not to
// be worked on twice: changes go first then, and what is filled in goes right after them, without what they are about.
func (s *session) tell(loaded bool) {
	w := s.watch
	completes := loaded && !s.relists && (s.late || s.table.cached != nil)

	if loaded {
		w.set.loaded(w.kind)

		if s.relists {
			defer w.set.relisted(w.kind)
		}
	}

	if len(s.changes) == 0 || !completes && len(s.first) == 0 {
		w.set.intake.put(&w.way, s.changes)
		s.fill(completes, nil)

		return
	}

	told := make(map[reduced.Key]struct{}, len(s.changes))
	for i := range s.changes {
		told[s.changes[i].Key()] = struct{}{}
	}

	w.set.intake.putThen(s.changes, func() { s.fill(completes, told) })
}

// fill has queues filled with what first contents have shown, but for what their controllers have been told of.
func (s *session) fill(completes bool, told map[reduced.Key]struct{}) {
	w := s.watch

	if len(s.first) > 0 {
		w.set.first(w.kind, without(w.kind, s.first, told))
	}

	switch {
	case !completes:
	case s.late:
		w.set.missed(w.kind, told)
	default:
		w.set.fill(w.kind, told)
	}
}

// without takes ids of a kind out of the list, in place.
func without(kind reduced.Kind, ids []resource.ID, some map[reduced.Key]struct{}) []resource.ID {
	if len(some) == 0 {
		return ids
	}

	return slices.DeleteFunc(ids, func(id resource.ID) bool {
		_, is := some[reduced.Key{Kind: kind, ID: id}]

		return is
	})
}

func (s *session) apply(batch []state.Event) error {
	w := s.watch

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.table == nil && !s.loading {
		s.table = nil // nobody needs the known keys any more, and none are being loaded
	}

	if w.table != s.table {
		return errTracking
	}

	if s.table != nil {
		defer s.table.publish()
	}

	for i := range batch {
		event := &batch[i]

		if s.loading && i%ahead == 0 {
			fetch(batch[i:min(i+ahead, len(batch))])
		}

		switch event.Type {
		case state.Errored:
			if event.Error == nil {
				return fmt.Errorf("the watch of %s reported an error without saying which", w.kind)
			}

			return event.Error
		case state.Bootstrapped:
			if s.loading {
				s.complete()
			}
		case state.Created, state.Updated, state.Destroyed:
			if err := s.change(event); err != nil {
				return err
			}
		case state.Noop:
		default:
			return fmt.Errorf("the watch of %s sent an event of the unknown type %d", w.kind, event.Type)
		}

		s.moved, s.alive = true, true

		if w.auditing != nil {
			w.auditing.moved = true
		}

		bookmark := event.Bookmark
		if s.loading {
			bookmark = nil // there is more to come than what follows it
		}

		if len(bookmark) > 0 {
			w.bookmark = bookmark
		}

		w.passLocked(bookmark, event.Type == state.Bootstrapped)
	}

	return nil
}

// change takes in a resource that an event has shown, unless it does not belong to the kind.
func (s *session) change(event *state.Event) error {
	if event.Resource == nil {
		return fmt.Errorf("the watch of %s sent an event of type %s without a resource", s.watch.kind, event.Type)
	}

	if event.Type != state.Destroyed && s.tombstones.Has(event.Resource) {
		return fmt.Errorf("the watch of %s sent an event of type %s with a tombstone: %s", s.watch.kind, event.Type, event.Resource.Metadata())
	}

	var md reduced.Metadata

	md.From(event.Resource, event.Type == state.Destroyed)

	if !md.Is(&s.watch.kind) {
		return fmt.Errorf("the watch of %s sent an event of another kind: %s", s.watch.kind, md.Key())
	}

	switch event.Type {
	case state.Created:
		md = md.Changed(reduced.ChangeCreated)
	case state.Updated:
		if s.watch.set.cfg.Passes > 0 {
			md = md.Changed(reduced.Between(event.Old, event.Resource))
		}
	}

	if audit := s.watch.auditing; audit != nil {
		audit.touched[md.ID()] = struct{}{}
	}

	if md.Destroyed() {
		s.remove(event.Resource, &md)
	} else {
		s.put(event.Resource, &md)
	}

	return nil
}

// put takes in a resource as an event, or the contents of a load, has shown it.
func (s *session) put(res resource.Resource, md *reduced.Metadata) {
	if s.table == nil {
		s.changes = append(s.changes, *md)

		return
	}

	if s.loading {
		s.shown++

		if s.seen == nil {
			s.table.put(nil, res, md) // it was empty
			s.show(md)

			return
		}

		s.seen[md.ID()] = struct{}{}
	}

	old, known, place := s.table.find(md.ID())

	if s.loading && known && old.SameState(&md.Facts) {
		return
	}

	switch same := known && old.SameIncarnation(&md.Facts); {
	case same && !s.loading && old.Version() > md.Version():
		return // an event that was seen before; readers have been shown a newer state
	case same && s.loading && old.Version() >= md.Version(), known && !same:
		// Contents are what there is now. That they are not newer than what is known, and yet something else, means another
		// incarnation too, created within one tick of the state's clock, or while that stood still in a test.
		*md = md.Recreated()
	}

	s.table.put(place, res, md)

	if known {
		*md = md.Remembering(&old)
	}

	if s.loading {
		*md = md.AfterGap()
	}

	// The first contents are nobody's news: controllers start with a wakeup, or with a fill of their queue.
	if !s.loading || s.relists {
		s.changes = append(s.changes, *md)
	} else {
		s.show(md)
	}
}

// show notes a resource that the first contents have shown. Where the kind is cached it is for later, when they are complete:
// whoever works on it may want to read, and would have to wait. After an attempt that broke off, all are filled in then, too.
func (s *session) show(md *reduced.Metadata) {
	if s.table.cached == nil && !s.late {
		s.first = append(s.first, md.ID())
	}
}

func (s *session) remove(res resource.Resource, md *reduced.Metadata) {
	if s.table != nil {
		old, known := s.table.lookup(md.ID())

		switch {
		case known && resource.IsTombstone(res):
			*md = reduced.About(md.Key(), old).Gone()
		case known:
			*md = md.Remembering(&old)
		}

		s.table.remove(md.ID())
	}

	s.changes = append(s.changes, *md)
}

// complete ends the load: what was known and is not among the contents has gone.
func (s *session) complete() {
	w := s.watch

	var gone []reduced.Metadata

	if s.seen != nil {
		for id, facts := range s.table.all() {
			if _, there := s.seen[id]; !there {
				gone = append(gone, reduced.About(reduced.Key{Kind: w.kind, ID: id}, facts).Gone().AfterGap())
			}
		}
	}

	for i := range gone {
		s.table.remove(gone[i].ID())
	}

	if s.relists {
		w.set.relists.Inc()
	}

	// What an earlier attempt has shown of a cached kind before it broke off is nobody's news: nobody was told.
	if s.relists || s.table.cached == nil {
		s.changes = append(s.changes, gone...)
	}

	s.loading, s.seen = false, nil
	w.single, w.behindhand = false, 0
	w.synced = true
	w.notify() // of what had to wait for the contents
	w.settleLocked(s.table)

	s.table.loaded()
}
