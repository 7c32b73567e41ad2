package answer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// overwritten adds to an answer what the resource says now, and what was done to it after the last pass that is remembered to have
// written it. That comes first: whatever passes have written, it is not that any more.
func (a *Answers) overwritten(ctx context.Context, book *cause.Book, why *api.Why) error {
	d, err := a.Resource(ctx, *why.Resource)
	if err != nil {
		why.Note = notes(why.Note, "it can not be read: "+err.Error())

		return ctx.Err()
	}

	why.Says = d.Says

	if last := &d.History[0]; last.By == nil {
		if last.Verb == reduced.ChangeFinalizers.String() {
			return nil // who holds it says nothing of why it is as it is
		}

		root := api.Root{Kind: api.RootOutside, Resource: why.Resource, Pass: last.SeenBy, At: last.At, Times: 1}
		root.Text = fmt.Sprintf("%s v%d: %s, from outside", why.Resource, last.Version, last.Verb)

		if last.Forgotten {
			root.Kind = api.RootForgotten
			root.Text += " or by a pass that is forgotten"
		}

		why.Roots = first(why.Roots, root)

		return nil
	}

	if d.Exists && !explained(book, d) {
		root := api.Root{Kind: api.RootOutside, Resource: why.Resource, At: *d.Updated, Times: 1}
		root.Text = fmt.Sprintf("%s v%s, from outside", why.Resource, d.Version)

		if mayBeForgotten(book, *d.Updated, d.Writers, d.Dependents) || book.Forgets(keyOf(d.Ref), *d.Updated) {
			root.Kind = api.RootForgotten
			root.Text += " or by a pass that is forgotten"
		}

		why.Roots = first(why.Roots, root)
	}

	return nil
}

// first puts a root first, in place of the one that says the same.
func first(roots []api.Root, root api.Root) []api.Root {
	roots = slices.DeleteFunc(roots, func(r api.Root) bool { return r.Text == root.Text })

	return slices.Insert(roots, 0, root)
}

// explained tells whether a pass is remembered to have made the version that a resource is in.
func explained(book *cause.Book, d *api.ResourceDetail) bool {
	key := keyOf(d.Ref)

	for _, p := range book.WrittenBy(key.Pointer()) {
		for i := range p.Writes {
			w := &p.Writes[i]

			switch {
			case w.Resource != key || w.Verb == string(stateadapter.Destroy):
				// What was destroyed is not what is there now.
			case w.Version == 0 && (w.Verb != string(stateadapter.Teardown) || d.Phase == resource.PhaseTearingDown.String()):
				return true // whichever version has come of it
			case strconv.FormatUint(w.Version, 10) == d.Version && (w.Life == 0 || w.Life == d.Created.UnixNano()):
				return true
			}
		}
	}

	return false
}

// mayBeForgotten tells whether some of the controllers have forgotten what they did at a moment.
func mayBeForgotten(book *cause.Book, at time.Time, controllers ...[]string) bool {
	for _, name := range slices.Concat(controllers...) {
		if !book.Forgotten(name).Before(at) {
			return true
		}

		if slices.ContainsFunc(book.Passes(name), func(p cause.Pass) bool { return p.MoreWrites > 0 && !p.Began.After(at) }) {
			return true
		}
	}

	return false
}

// mostEvident is how many roots and, of each, how many resources are looked at for what they say.
const mostEvident = 4

// evident adds to roots without a change what the pass has written, and what that says now: who asks for a pass that nothing in
// the state has caused has seen something outside it, and the pass has brought it in.
func (a *Answers) evident(ctx context.Context, book *cause.Book, roots []api.Root) []api.Root {
	looked := 0

	for i := range roots {
		r := &roots[i]
		if r.Kind != api.RootAsked || looked == mostEvident {
			continue
		}

		looked++

		p := book.Pass(r.Pass.Controller, r.Pass.Number)
		if p == nil {
			continue
		}

		for j := range min(len(p.Writes), mostEvident) {
			res, err := a.cfg.State.Get(ctx, p.Writes[j].Resource.Pointer())
			if err != nil || a.secret(ctx, res) != "" {
				continue
			}

			if line := says(res); line != "" {
				r.Text += fmt.Sprintf("; %s says: %s", p.Writes[j].Resource, line)
			}
		}
	}

	return roots
}
