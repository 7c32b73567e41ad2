package answer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// Passes returns the passes of a controller that are remembered, or with no name those of all, the latest first, up to a number;
// 0 is all.
func (a *Answers) Passes(name string, limit int) (*api.Passes, error) {
	var passes []cause.Pass

	if name != "" {
		own, err := a.passes(name)
		if err != nil {
			return nil, err
		}

		passes = own
	} else {
		passes = latest(a.books.now(), limit)
	}

	if limit > 0 && len(passes) > limit {
		passes = passes[:limit]
	}

	return &api.Passes{Passes: a.passesOf(passes), Note: noteOfNone(len(passes))}, nil
}

// latest returns the passes of all controllers, the latest first, up to a number; 0 is all.
func latest(book *cause.Book, limit int) []cause.Pass {
	var all []*cause.Pass

	for _, name := range book.Controllers() {
		passes := book.Passes(name)

		for i := range passes {
			all = append(all, &passes[i])
		}
	}

	slices.SortStableFunc(all, func(a, b *cause.Pass) int {
		return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.Controller, b.Controller), cmp.Compare(b.Number, a.Number))
	})

	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}

	passes := make([]cause.Pass, len(all))
	for i, p := range all {
		passes[i] = *p
	}

	return passes
}

// Pass returns one pass. The error is a [*NotFoundError] if it is not remembered.
func (a *Answers) Pass(ref api.PassRef) (*api.Pass, error) {
	passes, err := a.passes(ref.Controller)
	if err != nil {
		return nil, err
	}

	for i := range passes {
		if passes[i].Number == ref.Number {
			pass := a.passOf(&passes[i])

			return &pass, nil
		}
	}

	return nil, unknownPass(ref.Controller, ref.Number)
}

// noteOfNone says why no passes may be remembered.
func noteOfNone(passes int) string {
	if passes > 0 {
		return ""
	}

	return "no passes are remembered: none was made yet, or the engine is told not to remember them (Passes of its config)"
}

func (a *Answers) passes(name string) ([]cause.Pass, error) {
	passes, err := a.cfg.Engine.Passes(name)

	if errors.Is(err, runtime.ErrNotRegistered) {
		h := a.cfg.Engine.Health()

		return nil, unknownController(name, &h)
	}

	return passes, err
}

func (a *Answers) passesOf(passes []cause.Pass) []api.Pass {
	all := make([]api.Pass, 0, len(passes))
	for i := range passes {
		all = append(all, a.passOf(&passes[i]))
	}

	return all
}

// PassOf returns a pass as a document.
func (a *Answers) PassOf(p *cause.Pass) api.Pass { return a.passOf(p) }

func (a *Answers) passOf(p *cause.Pass) api.Pass {
	out := api.Pass{
		PassRef: passRef(p), Doing: p.Doing.String(), Began: p.Began, Outcome: p.Outcome.String(), Failure: p.Failure, Stack: p.Stack,
		Again: api.SecondsOf(p.Again), Causes: make([]api.Cause, 0, len(p.Causes)), More: p.More, Reasons: p.Reasons.Names(),
		Reads: accessesOf(p.Reads), MoreReads: p.MoreReads, Writes: accessesOf(p.Writes), MoreWrites: p.MoreWrites, Title: p.Title(),
	}

	if ended := p.Ended; ended.IsZero() {
		out.Took = api.SecondsOf(a.cfg.Clock.Now().Sub(p.Began))
	} else {
		out.Took = api.SecondsOf(ended.Sub(p.Began))
	}

	if p.Item.ID != "" {
		item := refOf(p.Item)
		out.Item = &item
	}

	for i := range p.Causes {
		out.Causes = append(out.Causes, causeOf(&p.Causes[i]))
	}

	return out
}

func passRef(p *cause.Pass) api.PassRef {
	return api.PassRef{Controller: p.Controller, Number: p.Number}
}

func causeOf(c *cause.Cause) api.Cause {
	return api.Cause{
		Resource: refOf(c.Resource), Input: inputKind(c.Input), From: c.From, To: c.To, Events: c.Events,
		Changed: c.Changed.Names(), Text: c.String(),
	}
}

func accessesOf(accesses []cause.Access) []api.Access {
	all := make([]api.Access, 0, len(accesses))
	for _, access := range accesses {
		all = append(all, api.Access{Resource: refOf(access.Resource), Verb: access.Verb, Version: access.Version})
	}

	return all
}

func unknownPass(name string, number uint64) *NotFoundError {
	return &NotFoundError{
		What: "pass", Name: fmt.Sprintf("%s #%d", name, number),
		Do: "only the last passes of each controller are remembered: ask for its passes to see which",
	}
}
