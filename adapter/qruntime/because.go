package qruntime

import (
	"math"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
)

// because is why an item waits to be worked on. The zero value is that its resource is there. There may be millions, so it
// has no room for more than it needs: versions and counts that are too large for it stay at the largest.
type because struct {
	// more is what few items have.
	more *more
	// from and to are the versions of a resource that is to be reconciled before and after what has happened to it, which were so
	// many events, and changed is what they have changed. Life is when its present life began.
	life     int64
	from, to uint32
	events   uint16
	changed  reduced.Change
	why      why
}

// more is about a resource that is to be mapped or, where it is remembered why passes were made, about what was mapped to one that is to
// be reconciled. The one becomes the other.
type more struct {
	// facts are what is known of the resource that is to be, or was, mapped.
	facts reduced.Facts
	// kind and id are which one was mapped; empty before, and where both is there: what was mapped to the same resource earlier, and later.
	kind *inputKind
	id   resource.ID
	both *both
}

// both is all that was mapped to one resource. What is mapped to it twice at once is told of once: so last is what came last.
type both struct {
	all  cause.Set
	last *more
}

// mapped makes it what was mapped to others in a pass. It does not keep the pass.
func (m *more) mapped(p *pass) *more {
	m.kind, m.id = p.duty.kind, p.id

	return m
}

// Set implements [cause.Causes].
func (m *more) Set() *cause.Set {
	if m.both != nil {
		return &m.both.all
	}

	return cause.One(cause.About(reduced.Key{Kind: m.kind.Kind, ID: m.id}, &m.facts, m.kind.mapped))
}

// has tells whether nothing is newer than the other.
func (m *more) has(newer *more) bool { return m == newer || m.both != nil && m.both.last == newer }

// then returns it with what was mapped later.
func (m *more) then(newer *more) *more {
	b := &both{last: newer}
	b.all.Join(m.Set(), newer.Set())

	return &more{both: b}
}

// why is the reasons, and whether there is none but what the controller has done itself.
type why uint8

// byItself is that an item is to be reconciled for no other reason than what the controller has done itself. Where there is
// another reason, it is not.
const byItself why = 1 << 7

func (w why) reasons() cause.Reasons { return cause.Reasons(w &^ byItself) }

// whyOf returns the reasons of what the controller has done itself, or somebody else.
func whyOf(reasons cause.Reasons, own bool) why {
	if own {
		return why(reasons) | byItself
	}

	return why(reasons)
}

// merge unites what has happened to the resource of an item. What is put is nobody else's, so it becomes the result, apart
// from the causes of what was mapped, which several items share.
func merge(older, newer because) because {
	switch {
	case older.more == nil:
	case newer.more == nil:
		newer.more = older.more
	case older.more.has(newer.more):
		newer.more = older.more
	case older.isMapped() && newer.isMapped():
		newer.more = older.more.then(newer.more)
	default:
		newer.more.facts = reduced.MergeFacts(older.more.facts, newer.more.facts)
	}

	newer.why = (newer.why|older.why)&^byItself | newer.why&older.why&byItself
	newer.changed |= older.changed

	if older.events > 0 {
		newer.from = older.from

		if newer.events == 0 {
			newer.to, newer.life = older.to, older.life
		}

		newer.events = uint16(min(uint32(older.events)+uint32(newer.events), math.MaxUint16))
	}

	return newer
}

// changedTo describes a change of a resource that is to be reconciled.
func changedTo(md *reduced.Metadata, own bool) because {
	return because{
		life: md.Created(), from: short(md.Before()), to: short(md.Version()), events: uint16(min(md.Causes().Events, math.MaxUint16)),
		changed: md.Change(), why: whyOf(0, own),
	}
}

func short(version uint64) uint32 { return uint32(min(version, math.MaxUint32)) }

// isMapped tells whether the item is to be reconciled because something was mapped to it, beside other reasons. It does not look at
// more, which lies elsewhere, and has been left for long.
func (b *because) isMapped() bool { return b.why&why(cause.Mapped) != 0 }

// itself are the facts of a resource that is to be reconciled because of what the controller has done itself.
var itself = new(reduced.Facts)

// facts returns what is known of a resource that is to be mapped, or of one that is to be reconciled, [itself] or nil.
func (b *because) facts() *reduced.Facts {
	switch {
	case b.why&byItself != 0:
		return itself
	case b.more == nil || b.isMapped():
		return nil
	default:
		return &b.more.facts
	}
}

// causes returns the causes of what was mapped to a resource, or nil.
func (b *because) causes() cause.Causes {
	if b.more == nil || !b.isMapped() {
		return nil
	}

	return b.more
}

// change writes what has happened to the resource of an item that is to be reconciled.
func (b *because) change(c *cause.Change) {
	c.Input, c.Changed, c.Events = controller.InputQPrimary, b.changed, uint32(b.events)
	c.From, c.To, c.Life = uint64(b.from), uint64(b.to), b.life
}
