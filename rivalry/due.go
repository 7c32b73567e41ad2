package rivalry

import (
	"math"
	"slices"
	"time"

	"github.com/switchyard-run/switchyard/reduced"
)

// Held is a change that was held back, and whom it is to be told.
type Held struct {
	Change reduced.Metadata
	Rivals []*Writer
}

// Delay decides about a change that is about to be told. The rivals are to be told of what comes back for them, which is
// nothing where it is held back; all others of the change as it is, and so are all where there are no rivals. It is called for
// one change after the other, together with Due, so that of what comes back nothing is told too late. The slice is shared.
func (f *Finder) Delay(md *reduced.Metadata) (rivals []*Writer, forThem *reduced.Metadata) {
	f.mu.Lock()
	defer f.mu.Unlock()

	r := f.rivalries[md.Key()]
	if r == nil {
		return nil, nil
	}

	return r.rivals, r.delay(md)
}

// Due returns what is not to be held back any more, in order of the resource, and the rivalries that are over.
func (f *Finder) Due() (held []Held, over []Rivalry) {
	if f.None() {
		return nil, nil
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	now := f.now()
	if now < f.next {
		return nil, nil
	}

	for _, key := range f.dueLocked(now) {
		r := f.rivalries[key]

		if r.held.Causes().Events > 0 {
			held = append(held, Held{reduced.About(key, r.held), r.rivals})
			r.held = reduced.Facts{}
		}

		if r.over || r.quiet() {
			over = append(over, f.describe(key, r))
			delete(f.rivalries, key)
			f.count.Add(-1)

			continue
		}

		r.interval = min(2*r.interval, longest)
		r.begin(now)
	}

	f.settleLocked()

	return held, over
}

// dueLocked returns the resources whose interval has ended, in order.
func (f *Finder) dueLocked(now time.Duration) (keys []reduced.Key) {
	for key, r := range f.rivalries {
		if r.next <= now {
			keys = append(keys, key)
		}
	}

	slices.SortFunc(keys, reduced.Key.Compare)

	return keys
}

// Left says that a controller has gone: who is left alone is no rival, and need not wait any longer.
func (f *Finder) Left(name string) {
	if f.None() {
		return
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	for _, r := range f.rivalries {
		if r.without(name); len(r.rivals) < 2 && !r.over {
			r.over, r.next = true, 0
		}
	}

	f.settleLocked()
	f.cfg.Wake()
}

// Next returns when there is something due next, or false if nothing is.
func (f *Finder) Next() (at time.Time, some bool) {
	if f.None() {
		return time.Time{}, false
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	return f.cfg.Epoch.Add(f.next), len(f.rivalries) > 0
}

// settleLocked finds out which interval ends first.
func (f *Finder) settleLocked() {
	f.next = math.MaxInt64

	for _, r := range f.rivalries {
		f.next = min(f.next, r.next)
	}
}
