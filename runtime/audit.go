package runtime

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reduced"
)

// auditPatience is how long an audit waits for the stream to come up with the list, at most.
const auditPatience = 5 * time.Second

var errUnanswered = errors.New("the audit has come to no end")

// audit compares what the table of a watch knows with a list of the state, beside the stream, which goes on meanwhile.
//
// What the stream shows while the audit looks is left to the next one. Of everything else the stream has nothing to tell
// between the beginning of the list and the fence that is put up after it: once the watch has come by the fence, the table
// and the list must show the same of it, and where they do not, the stream has left something out.
type audit struct {
	watch *watch
	table *table

	// touched are the ids that the stream has shown since the audit began, and moved tells that anything has come at all.
	// Both are guarded by the lock of the watch.
	touched map[resource.ID]struct{}
	moved   bool

	// done is closed when the audit has come to its end; then there is what it has found.
	done  chan struct{}
	found findings
}

// findings are what an audit has found.
type findings struct {
	err error // it could not be made
	// missed are the differences between the table and the list, in order of id.
	missed []difference
	// certain tells that the stream should have shown what is different: it has come by the fence, or it was silent for all of
	// the patience.
	certain bool
	passed  bool // the stream has come by the fence
}

// difference is what the state lists of a resource and what is known of it; either may be no facts at all.
type difference struct {
	id            resource.ID
	listed, known reduced.Facts
}

func (d *difference) same(other *difference) bool {
	return d.listed.SameState(&other.listed) && d.known.SameState(&other.known)
}

// over tells whether what closes the channel at its end has come to it.
func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// audit begins to compare the table with a list, or returns nil while an earlier audit still waits for the state.
func (w *watch) audit(ctx context.Context, table *table) *audit {
	if w.audited != nil && !over(w.audited) {
		return nil
	}

	a := &audit{
		watch: w, table: table, touched: map[resource.ID]struct{}{},
		done: make(chan struct{}), found: findings{err: errUnanswered},
	}

	w.audited = a.done

	w.mu.Lock()
	w.auditing = a
	w.mu.Unlock()

	w.audits.Go(func() {
		defer w.notify()
		defer close(a.done)

		if err := contain.Call(func() error { return a.look(ctx) }); err != nil {
			a.found = findings{err: err}
		}
	})

	return a
}

// look lists, waits for the stream, and compares.
func (a *audit) look(ctx context.Context) error {
	w := a.watch

	listed, err := a.list(ctx)
	if err != nil {
		return err
	}

	f := w.fence()
	defer w.takeDown(f)

	passed, err := a.wait(ctx, f)
	if err != nil {
		return err
	}

	missed, err := a.compare(listed)
	if err != nil {
		return err
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	a.found = findings{missed: missed, passed: passed, certain: passed || !a.moved}

	return nil
}

func (a *audit) list(ctx context.Context) (map[resource.ID]reduced.Facts, error) {
	list, err := a.watch.set.state.List(ctx, a.watch.kind.Pointer())
	if err != nil {
		return nil, err
	}

	listed := make(map[resource.ID]reduced.Facts, len(list.Items))

	for _, res := range list.Items {
		md := reduced.Of(res, false)
		listed[md.ID()] = md.Facts
	}

	return listed, nil
}

// wait tells whether the stream comes by a bookmark that is newer than the list before the patience is over.
func (a *audit) wait(ctx context.Context, f *fence) (bool, error) {
	w := a.watch
	patience := min(auditPatience, w.set.cfg.AuditInterval/3)

	giveUp := w.set.cfg.Clock.NewTimer(patience)
	defer giveUp.Stop()

	bookmark, err := w.newestBookmark(ctx, giveUp.Chan())
	if err != nil {
		return false, err
	}

	late := w.set.cfg.Clock.NewTimer(patience)
	defer late.Stop()

	for !w.reached(f, bookmark) {
		select {
		case <-f.moved:
		case <-late.Chan():
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}

	return true, nil
}

// compare returns what the table does not know as it was listed. It takes the lock for a part of the list at a time, so that
// events do not have to wait: what the audit looks at does not change.
func (a *audit) compare(listed map[resource.ID]reduced.Facts) ([]difference, error) {
	var missed []difference

	known := make(map[resource.ID]struct{}, len(listed)) // of what is listed

	for part := range slices.Chunk(slices.Collect(maps.Keys(listed)), atOnce) {
		if !a.locked(func() { missed = append(missed, a.comparePart(part, listed, known)...) }) {
			return nil, errUnanswered
		}
	}

	if !a.locked(func() {
		missed = append(missed, a.unlisted(listed, known)...)
		missed = slices.DeleteFunc(missed, func(d difference) bool {
			_, touched := a.touched[d.id]

			return touched
		})
	}) {
		return nil, errUnanswered
	}

	slices.SortFunc(missed, func(a, b difference) int { return strings.Compare(a.id, b.id) })

	return missed, nil
}

func (a *audit) comparePart(ids []resource.ID, listed map[resource.ID]reduced.Facts, known map[resource.ID]struct{}) []difference {
	var missed []difference

	for _, id := range ids {
		list := listed[id]
		table, there := a.table.lookup(id)

		if there {
			known[id] = struct{}{}
		}

		if !there || !table.SameState(&list) {
			missed = append(missed, difference{id: id, listed: list, known: table})
		}
	}

	return missed
}

// unlisted returns what is known and was not listed. Mostly there is none, which can be told by counting: what was touched
// after it had been compared is the only part of the table that may be there no longer, or be new.
func (a *audit) unlisted(listed map[resource.ID]reduced.Facts, known map[resource.ID]struct{}) []difference {
	count := a.table.len() - len(known)

	for id := range a.touched {
		_, counted := known[id]

		switch _, there := a.table.lookup(id); {
		case counted && !there:
			count++
		case !counted && there:
			count--
		}
	}

	if count == 0 {
		return nil
	}

	var missed []difference

	for id, facts := range a.table.all() {
		if _, is := listed[id]; !is {
			missed = append(missed, difference{id: id, known: facts})
		}
	}

	return missed
}

// locked looks at the table, and tells whether it could: not if the session has ended, or fills another table by now.
func (a *audit) locked(look func()) bool {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()

	if a.watch.auditing != a || a.watch.table != a.table {
		return false
	}

	look()

	return true
}
