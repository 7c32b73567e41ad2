package qruntime

import (
	"math"

	"github.com/cosi-project/runtime/pkg/controller"

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

// more is about a resource that is to be mapped, or about what was mapped to one that is to be reconciled.
type more struct {
	// facts are what is known of a resource that is to be mapped.
	facts reduced.Facts
	// causes are those of what was mapped to the resource, or nil. Last is what they were merged with last: what is mapped to one
	// resource twice at once is told of once.
	causes *cause.Set
	last   *more
}

// mappedFrom is about what is mapped because of a change, in one piece of memory.
func mappedFrom(c cause.Cause) *more {
	m := &struct {
		more

		set cause.Set
	}{}
	m.causes = m.set.Init(c)

	return &m.more
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
	case older.more == newer.more || older.more.last == newer.more:
		newer.more = older.more
	case older.more.causes != nil && newer.more.causes != nil:
		newer.more = &more{causes: older.more.causes.Then(newer.more.causes), last: newer.more}
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

// facts returns what is known of a resource that is to be mapped, or of one that is to be reconciled, [itself] or nil.
func (b *because) facts() *reduced.Facts {
	switch {
	case b.why&byItself != 0:
		return itself
	case b.more == nil || b.more.causes != nil:
		return nil
	default:
		return &b.more.facts
	}
}

// causes returns the causes of what was mapped to a resource, or nil.
func (b *because) causes() *cause.Set {
	if b.more == nil {
		return nil
	}

	return b.more.causes
}

// change is what has happened to the resource of an item that is to be reconciled.
func (b *because) change() cause.Change {
	return cause.Change{
		Input: controller.InputQPrimary, From: uint64(b.from), To: uint64(b.to), Life: b.life, Events: uint32(b.events), Changed: b.changed,
	}
}
