package cache

import (
	"math"

	"github.com/cosi-project/runtime/pkg/resource"
)

// note is what one owner has written to one resource.
type note struct {
	owner *Writes // nil once it is forgotten
	id    resource.ID
	next  *note // another owner's of the same resource

	// before and after are others of the same owner.
	before, after *note

	// open counts the writes under way, reloaded tells that a load has ended since the first of them was begun.
	open     int
	reloaded bool
	// asking counts the readers who wait for an answer of the state. It may be newer than what the contents show by then, and
	// nothing older must be shown after it, so the note stays.
	asking int

	// target is what the last write came to, value the resource as it was then, if it was kept. Turn numbers the targets.
	target target
	value  resource.Resource
	turn   uint64
	// read tells that the value has been read.
	read bool
	// loads is how many loads had begun when the target was set. Unsure is set once a load has ended that was begun after
	// that: the end of the incarnation may have been passed unseen.
	loads  uint64
	unsure bool

	// seen is what the stream has shown since the note was made, an entry for each incarnation. Shown is the number of
	// the contents that show the target, 0 while none do.
	seen  []sighting
	shown uint64
	// fresh tells that the note is among the fresh ones of the ledger.
	fresh bool
}

// what a write came to.
type what uint8

const (
	nothing what = iota
	at           // the incarnation at the version or above
	tearing      // the same, and tearing down
	gone         // the end of the incarnation
)

type target struct {
	what    what
	created int64
	version uint64
	// made tells that the version was made by the write. What the stream shows of it, it shows after the note was made.
	made bool
}

// older tells whether the target is superseded by another one, when two writes have run at once and it is not known which
// was the last.
func (t target) older(than target) bool {
	switch {
	case t.what == nothing || t.created < than.created:
		return true
	case t.created > than.created:
		return false
	case t.what == at && than.what == at:
		return t.version < than.version
	default:
		return t.what < than.what
	}
}

type sighting struct {
	created int64
	version uint64
	tearing bool
	ended   bool
	number  uint64
}

// shows tells whether what was seen is the target or newer.
func (s *sighting) shows(t target) bool {
	if s.created != t.created {
		return false
	}

	return s.ended || t.what != gone && s.version >= t.version && (t.what == at || s.tearing)
}

// incarnation is the one that a write that is about to be made is taken to end: what was written last, else what the cache
// shows. 0 if neither is known.
func (n *note) incarnation() int64 {
	if n.target.what == at || n.target.what == tearing {
		return n.target.created
	}

	if r := n.owner.collection.run.Load(); r != nil {
		created := r.newest().created(n.id)
		if created != 0 && (n.target.what != gone || n.target.created != created) {
			return created
		}
	}

	return 0
}

// see notes what the contents of the number will show, and tells whether the target is among it for the first time.
func (n *note) see(s sighting) bool {
	known := false

	for i := range n.seen {
		if old := &n.seen[i]; old.created == s.created {
			*old = sighting{
				created: s.created, version: max(old.version, s.version), tearing: old.tearing || s.tearing,
				ended: old.ended || s.ended, number: s.number,
			}
			s, known = *old, true
		}
	}

	if !known {
		n.seen = append(n.seen, s)
	}

	if n.shown != 0 || n.target.what == nothing || !s.shows(n.target) {
		return false
	}

	n.shown = s.number

	return true
}

// created returns which incarnation of the resource the contents show, or 0.
func (c *contents) created(id resource.ID) int64 {
	res, ok := c.tree.get(id)
	if !ok {
		return 0
	}

	return createdOf(res.Metadata())
}

// shows tells whether the contents show the target or a later version of its incarnation. Its end they can not show.
func (c *contents) shows(id resource.ID, t target) bool {
	if t.what == gone {
		return false
	}

	res, ok := c.tree.get(id)
	if !ok {
		return false
	}

	md := res.Metadata()

	return (&sighting{
		created: createdOf(md), version: md.Version().Value(), tearing: md.Phase() == resource.PhaseTearingDown,
	}).shows(t)
}

// shownBy returns what contents show that have the resource.
func shownBy(res resource.Resource) target {
	md := res.Metadata()

	return target{what: at, created: createdOf(md), version: md.Version().Value()}
}

// createdOf identifies an incarnation. 0 stands for none, and the largest number for one that is not known. A resource that
// was created at one of those two moments, as one whose maker does not say when may be, counts as created beside it.
func createdOf(md *resource.Metadata) int64 {
	switch created := md.Created().UnixNano(); created {
	case 0:
		return 1
	case math.MaxInt64:
		return math.MaxInt64 - 1
	default:
		return created
	}
}
