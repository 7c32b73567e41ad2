package cause

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// Most is how many causes of one pass are kept, each of another resource.
const Most = 8

// Cause is one resource whose changes have woken a controller: all that happened to it since the controller has run for it last.
type Cause struct {
	// Resource is what has changed.
	Resource reduced.Key

	Change
}

// Change is what has happened to a resource, whichever that is.
type Change struct {
	// Input is the kind of input through which the controller was told.
	Input controller.InputKind
	// From is the version before the first change; 0 is that there was none. To is the version after the last one.
	From, To uint64
	// Life tells the lives of one id apart: it is when the one of To was created, in nanoseconds.
	Life int64
	// Events is how many changes there were. What a list has shown counts as one.
	Events uint32
	// Changed is what they have changed, all together.
	Changed reduced.Change
}

// Of returns the cause that a change is, told through an input of the kind.
func Of(md *reduced.Metadata, input controller.InputKind) Cause {
	return About(md.Key(), &md.Facts, input)
}

// About is [Of] for facts of a resource.
func About(key reduced.Key, facts *reduced.Facts, input controller.InputKind) Cause {
	return Cause{key, ChangeOf(facts, input)}
}

// ChangeOf is what facts of a resource say that has happened to it.
func ChangeOf(facts *reduced.Facts, input controller.InputKind) Change {
	return Change{input, facts.Before(), facts.Version(), facts.Created(), facts.Causes().Events, facts.Change()}
}

// then merges what has happened to the same resource later.
func (c *Change) then(later *Change) {
	if c.Life != later.Life {
		c.Changed |= reduced.ChangeDestroyed // which nobody may have seen
	}

	c.To, c.Life = later.To, later.Life
	c.Events += later.Events
	c.Changed |= later.Changed
}

// String says what has happened, as "Hosts(net/web) v3 → v5: spec, labels".
func (c Cause) String() string {
	text := c.Resource.String()

	if c.From != 0 && c.From != c.To && c.Changed&reduced.ChangeListed == 0 {
		text += fmt.Sprintf(" v%d →", c.From)
	}

	text += fmt.Sprintf(" v%d", c.To)

	if c.Changed != 0 {
		text += ": " + c.Changed.String()
	}

	return text
}

// Set is the causes of one pass: of up to [Most] resources, and how many changes there were beside. It is not changed once
// others have it. The zero value is empty.
type Set struct {
	causes []Cause
	more   uint64
	at     time.Duration // when others were told of it, as whoever made it counts
	one    [1]Cause      // what mostly is enough, so that a set is one piece of memory

	joined atomic.Pointer[joined] // what Shared has come to last, or nil
}

// Causes is a set, or what one is made of when somebody asks: most never do. It is asked at any time, also under locks of this
// package.
type Causes interface{ Set() *Set }

// Set implements [Causes].
func (s *Set) Set() *Set { return s }

// SetOf returns the set of the causes that changes are, told through inputs of one kind at some time.
func SetOf(changes []reduced.Metadata, input controller.InputKind, at time.Duration) *Set {
	if len(changes) == 1 {
		s := One(Of(&changes[0], input))
		s.at = at

		return s
	}

	s := &Set{causes: make([]Cause, 0, min(len(changes), Most)), at: at}

	for i := range changes {
		c := Of(&changes[i], input)
		s.add(&c)
	}

	return s
}

// At returns when others were told of the first of the changes, as whoever made the set counts.
func (s *Set) At() time.Duration { return s.at }

// One returns the set of one cause.
func One(c Cause) *Set { return new(Set).Init(c) }

// Init makes an empty set, which may be a part of something larger, that of one cause, and returns it.
func (s *Set) Init(c Cause) *Set {
	s.one[0] = c
	s.causes = s.one[:]

	return s
}

// Then returns the set with what has happened later. Nil is nothing.
func (s *Set) Then(later *Set) *Set {
	switch {
	case later == nil || len(later.causes) == 0 && later.more == 0:
		return s
	case s == nil:
		return later
	case s == later:
		return s // one change that several were told of
	}

	both := new(Set)
	both.Join(s, later)

	return both
}

// Join makes an empty set, which may be a part of something larger, that of an older and a later one.
func (s *Set) Join(older, later *Set) {
	s.causes = make([]Cause, len(older.causes), min(len(older.causes)+len(later.causes), Most))
	copy(s.causes, older.causes)
	s.more, s.at = older.more, older.at
	s.addAll(later)
}

func (s *Set) addAll(later *Set) {
	for i := range later.causes {
		s.add(&later.causes[i])
	}

	s.more += later.more
}

func (s *Set) add(c *Cause) {
	for i := range s.causes {
		if known := &s.causes[i]; known.Input == c.Input && known.Resource == c.Resource {
			known.then(&c.Change)

			return
		}
	}

	if len(s.causes) < Most {
		s.causes = append(s.causes, *c)
	} else {
		s.more += uint64(c.Events)
	}
}

// Shared is [Set.Then] where many have the same, as controllers that are woken for the same changes mostly do: the later set
// remembers what has come of it last.
func (s *Set) Shared(later *Set) *Set {
	if s == nil || later == nil || s == later {
		return s.Then(later)
	}

	if j := later.joined.Load(); j != nil && j.older == s {
		return j.both
	}

	both := s.Then(later)
	later.joined.Store(&joined{s, both})

	if s.joined.Load() != nil {
		s.joined.Store(nil) // or else each would keep the one before it, and that one all others
	}

	return both
}

// joined is what has come of a set behind an older one.
type joined struct{ older, both *Set }

// Reasons say why a pass was made beside changes, as a set.
type Reasons uint8

// Reasons of passes.
const (
	// Filled is that the resource was there when the controller was started, or that all were to be looked at anew.
	Filled Reasons = 1 << iota
	// Retried is that the pass before has failed.
	Retried
	// Timed is that the pass before has asked for it.
	Timed
	// Triggered is that somebody has asked for it from outside, or the controller itself, without any change.
	Triggered
	// Mapped is that the controller has mapped something else to the resource.
	Mapped
	// Started is that a classic controller begins with a wakeup.
	Started
)

var reasonNames = [...]string{"start or resync", "retry", "timer", "asked for", "mapped", "start"}

// Names names all reasons, in order. It is empty, and not nil, where there is none.
func (r Reasons) Names() []string { return reduced.NamesOf(uint8(r), reasonNames[:]) }

// String is the names in a line.
func (r Reasons) String() string { return strings.Join(r.Names(), ", ") }
