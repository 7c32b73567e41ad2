package cause

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Book is the passes of all controllers of an engine at one moment, by what they have written. It is made for questions that
// are asked rarely, and is not changed.
type Book struct {
	// passes are those of each controller, the latest first, and wrote those that have written a resource, the earliest first.
	passes map[string][]Pass
	wrote  map[reduced.Key][]write
	may    May
	// forgotten is until when controllers have forgotten passes that have written something, lost the same with the last one first,
	// and more are the passes that have written more than is remembered, the last one first.
	forgotten map[string]time.Time
	lost      []lost
	more      []*Pass
}

// May tells whether a controller may have made a change.
type May func(controller string, key reduced.Key, changed reduced.Change) bool

type write struct {
	pass   *Pass
	access *Access
}

// lost is that a controller has forgotten passes that have written something, the last of which has ended then.
type lost struct {
	controller string
	at         time.Time
}

// NewBook makes a book of the passes of each controller, the latest first. Forgotten is what [Tracer.Lost] says of them, as far as it is
// not zero. May is asked who may have forgotten to have made a change; nil is that all may.
func NewBook(passes map[string][]Pass, forgotten map[string]time.Time, may May) *Book {
	if may == nil {
		may = func(string, reduced.Key, reduced.Change) bool { return true }
	}

	b := &Book{passes: passes, wrote: map[reduced.Key][]write{}, may: may, forgotten: forgotten}

	for controller, at := range forgotten {
		b.lost = append(b.lost, lost{controller, at})
	}

	slices.SortFunc(b.lost, func(a, b lost) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.controller, b.controller)) })

	for _, all := range passes {
		for i := range all {
			if all[i].MoreWrites > 0 {
				b.more = append(b.more, &all[i])
			}

			for j := range all[i].Writes {
				access := &all[i].Writes[j]
				b.wrote[access.Resource] = append(b.wrote[access.Resource], write{&all[i], access})
			}
		}
	}

	slices.SortFunc(b.more, lastFirst)

	for _, all := range b.wrote {
		slices.SortStableFunc(all, func(a, b write) int {
			return cmp.Or(a.pass.Began.Compare(b.pass.Began), cmp.Compare(a.pass.Controller, b.pass.Controller), cmp.Compare(a.pass.Number, b.pass.Number))
		})
	}

	return b
}

// Passes returns the passes of a controller, the latest first.
func (b *Book) Passes(controller string) []Pass { return b.passes[controller] }

// Forgotten returns until when a controller has forgotten passes that have written something; zero is that it has forgotten none.
func (b *Book) Forgotten(controller string) time.Time { return b.forgotten[controller] }

// Complete tells whether all passes of a controller are remembered, whatever they have done.
func (b *Book) Complete(controller string) bool {
	all := b.passes[controller]

	return len(all) == 0 || all[0].Number == uint64(len(all))
}

// Pass returns a pass by its number, or nil if it is not remembered.
func (b *Book) Pass(controller string, number uint64) *Pass {
	all := b.passes[controller]

	i, ok := slices.BinarySearchFunc(all, number, func(p Pass, number uint64) int { return cmp.Compare(number, p.Number) })
	if !ok {
		return nil
	}

	return &all[i]
}

// WrittenBy returns the passes that are remembered to have written a resource, the earliest first.
func (b *Book) WrittenBy(ptr resource.Pointer) (all []*Pass) {
	for _, wrote := range b.wrote[reduced.KeyOf(ptr)] {
		if len(all) == 0 || all[len(all)-1] != wrote.pass {
			all = append(all, wrote.pass)
		}
	}

	return all
}

// Writers are who has made the changes of a cause.
type Writers struct {
	// Passes are the passes that are remembered to have written, the earliest first.
	Passes []*Pass
	// Others is how many changes no pass that is remembered has made. They were made from outside, or by a pass that is
	// forgotten, or that was told no version: see Forgotten.
	Others int
	// Forgotten tells that some of the controllers no longer remember all they have done since, so that what others have done
	// may have been theirs.
	Forgotten bool
	// Maybe is a pass that has written more than is remembered of it, so that it may have been that one, or nil.
	Maybe *Pass
}

// Writers returns who has made the changes of a cause of a pass.
func (b *Book) Writers(p *Pass, c *Cause) (w Writers) {
	since := b.told(p, c)

	var (
		all        []write
		candidates []Candidate
	)

	for _, w := range b.wrote[c.Resource] {
		if w.pass != p && !w.pass.Began.After(p.Began) {
			all = append(all, w)
			candidates = append(candidates, Candidate{w.access, w.pass.Outcome != Running && w.pass.Ended.Before(since)})
		}
	}

	made := c.MadeBy(candidates)

	for _, i := range made {
		if pass := all[i].pass; !slices.Contains(w.Passes, pass) {
			w.Passes = append(w.Passes, pass)
		}
	}

	w.Others = int(c.Events) - len(made)

	if w.Others > 0 {
		since = b.waited(p, c)
		w.Maybe = b.wroteMore(p, c, since)
		w.Forgotten = w.Maybe != nil || b.forgets(c, since)
	}

	return w
}

// Forgets tells whether some controller has forgotten passes since then that may have written a resource.
func (b *Book) Forgets(key reduced.Key, since time.Time) bool {
	return b.forgets(&Cause{Resource: key}, since)
}

// forgets tells whether some controller has forgotten passes since then that may have made changes of the cause.
func (b *Book) forgets(c *Cause, since time.Time) bool {
	for _, l := range b.lost {
		if l.at.Before(since) {
			break
		}

		if b.may(l.controller, c.Resource, c.Changed) {
			return true
		}
	}

	return false
}

// wroteMore returns the last pass before p that has written more than is remembered, and may have made changes of the cause since
// then. It is nil if there is none.
func (b *Book) wroteMore(p *Pass, c *Cause, since time.Time) *Pass {
	for _, q := range b.more {
		if q != p && !q.Began.After(p.Began) && (q.Outcome == Running || !q.Ended.Before(since)) && b.may(q.Controller, c.Resource, c.Changed) {
			return q
		}
	}

	return nil
}

// lastFirst orders passes by when they began, the last one first.
func lastFirst(a, b *Pass) int {
	return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.Controller, b.Controller), cmp.Compare(b.Number, a.Number))
}

// Before returns the pass before that was for the same, or nil if it is not remembered.
func (b *Book) Before(p *Pass) *Pass {
	for i := range b.passes[p.Controller] {
		if earlier := &b.passes[p.Controller][i]; earlier.Number < p.Number && earlier.sameAs(p) {
			return earlier
		}
	}

	return nil
}

// Repeats returns the pass that one makes again, since it has failed or waited: the last one before it that changes have caused,
// which have not been worked on to the end since. It is nil where there is none, or none is remembered.
func (b *Book) Repeats(p *Pass) *Pass {
	for p.Reasons&(Retried|Timed) != 0 {
		before := b.Before(p)
		if before == nil || p.Reasons&Retried == 0 && len(before.Writes) > 0 {
			return nil // what has asked to be run again after it had done something has done what it was woken for
		}

		if len(before.Causes) > 0 {
			return before
		}

		p = before
	}

	return nil
}

// told returns when the pass before began that was for the same and was told of changes of the same resource: what has caused this one has
// happened since, as far as can be told. What has happened before a pass that was for something else may have been on its way still.
func (b *Book) told(p *Pass, c *Cause) (began time.Time) {
	var before *Pass

	for i := range b.passes[p.Controller] {
		earlier := &b.passes[p.Controller][i]
		if earlier.Number >= p.Number || !earlier.sameAs(p) {
			continue
		}

		if earlier.tells(c.Resource) {
			return earlier.Began
		}

		if before == nil {
			before = earlier
		}
	}

	if before == nil || b.Complete(p.Controller) {
		return time.Time{} // it was told of none before
	}

	return before.Began
}

// tells tells whether changes of a resource may be among the causes of the pass.
func (p *Pass) tells(key reduced.Key) bool {
	return p.More > 0 || slices.ContainsFunc(p.Causes, func(c Cause) bool { return c.Resource == key })
}

// waited returns since when changes of a cause of a pass may have waited to be told of: since the pass before that was for the same, unless
// they were on their way for longer, as what a paused controller is told of, or what has to be mapped first.
func (b *Book) waited(p *Pass, c *Cause) time.Time {
	before := b.Before(p)
	if before == nil {
		return time.Time{}
	}

	since := earlier(before.Began, p.Began.Add(-p.Waited))

	if p.Doing != Reconciling || c.Input != controller.InputQMapped && c.Input != controller.InputQMappedDestroyReady {
		return since
	}

	mapped := uint32(0)

	for i := range b.passes[p.Controller] {
		m := &b.passes[p.Controller][i]
		if m.Doing != Mapping || m.Item != c.Resource || m.Number > p.Number || m.Outcome != Running && m.Ended.Before(before.Began) {
			continue
		}

		since = earlier(since, m.Began.Add(-m.Waited))

		for j := range m.Causes {
			if of := &m.Causes[j]; of.Life != c.Life || of.To <= c.To {
				mapped += of.Events
			}
		}
	}

	if mapped < c.Events {
		return time.Time{} // it is forgotten when they were mapped
	}

	return since
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}

	return a
}

// Controllers returns the names of the controllers of the book, in order.
func (b *Book) Controllers() []string { return slices.Sorted(maps.Keys(b.passes)) }
