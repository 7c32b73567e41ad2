package cause

import (
	"slices"

	"github.com/switchyard-run/switchyard/reduced"
)

// Candidate is a write of the resource of a cause, by another pass that began before the one that was woken, or with it.
type Candidate struct {
	Access *Access
	// Earlier tells that the pass that has written had ended when the one before began that was told of changes of the resource.
	Earlier bool
}

// MadeBy returns which of the candidates, the earliest first, have made the changes of the cause, as far as can be told: at most
// one for each.
func (c *Cause) MadeBy(all []Candidate) (made []int) {
	// What is torn down is torn down once, whoever says it again: the first one has made the change.
	tornDown := slices.IndexFunc(all, func(w Candidate) bool { return w.Access.Verb == tearsDown && c.includes(w) })

	// The latest writes that fit are those that the pass was told of.
	for i, w := range slices.Backward(all) {
		if len(made) == int(c.Events) {
			break
		}

		if c.includes(w) && (w.Access.Verb != tearsDown || i == tornDown) {
			made = append(made, i)
		}
	}

	slices.Reverse(made)

	return made
}

// includes tells whether a write has made one of the changes, as far as can be told.
func (c *Cause) includes(w Candidate) bool {
	const ends = reduced.ChangePhase | reduced.ChangeDestroyed

	ended := c.Changed&reduced.ChangeDestroyed != 0

	switch a := w.Access; {
	case !c.fits(a.Verb):
		return false
	case a.Version == 0:
		return c.Changed&ends != 0 && !w.Earlier
	case a.Life == c.Life:
		return a.Version <= c.To && (a.Version > c.From || ended || c.Changed&reduced.ChangeCreated != 0)
	case a.Life == 0:
		return a.Version <= c.To && a.Version > c.From && !w.Earlier
	default:
		return ended && !w.Earlier // of a life before
	}
}

// fits tells whether a call can have changed what was changed.
func (c *Cause) fits(verb string) bool {
	can, ok := makes[verb]

	return !ok || c.Changed&(can|reduced.ChangeListed) != 0
}

const tearsDown = "tear down"

// makes is what calls of the contract change that change one thing only, by what the guarded view of the state names them.
var makes = map[string]reduced.Change{
	"destroy": reduced.ChangeDestroyed, tearsDown: reduced.ChangePhase,
	"add a finalizer to": reduced.ChangeFinalizers, "remove a finalizer from": reduced.ChangeFinalizers,
}
