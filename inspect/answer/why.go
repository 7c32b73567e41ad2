package answer

import (
	"context"
	"fmt"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// asked is how many passes of a controller are asked why, so that what happens again and again is told from what happened once.
const asked = 8

// WhyResource tells why a resource is as it is: who has written it last, and what has led to that.
func (a *Answers) WhyResource(ctx context.Context, ref api.Ref) (*api.Why, error) {
	book := a.cfg.Engine.Book()
	why := &api.Why{Resource: &ref, Roots: []api.Root{}, Trees: []*api.WhyPass{}}
	by := book.WrittenBy(keyOf(ref).Pointer())
	count := map[string]int{}
	roots := rootFinder{book: book}

	for i := len(by) - 1; i >= 0; i-- {
		p := by[i]

		if count[p.Controller]++; count[p.Controller] > asked {
			continue
		}

		answer := book.Why(p)
		roots.find(answer)

		if count[p.Controller] == 1 {
			why.Trees = append(why.Trees, a.tree(book, answer))
		}
	}

	if len(by) == 0 {
		return why, a.unwritten(ctx, book, why)
	}

	why.Roots = roots.all()

	return why, nil
}

// unwritten says why a resource is as it is that no pass is remembered to have written.
func (a *Answers) unwritten(ctx context.Context, book *cause.Book, why *api.Why) error {
	d, err := a.Resource(ctx, *why.Resource)
	if err != nil {
		return err
	}

	switch {
	case len(d.History) > 0 && !d.History[0].Forgotten:
		v := &d.History[0]
		why.Roots = append(why.Roots, api.Root{
			Kind: api.RootOutside, Resource: why.Resource, Pass: v.SeenBy, At: v.At, Times: 1,
			Text: fmt.Sprintf("%s v%d: %s, from outside", why.Resource, v.Version, v.Verb),
		})
	case !d.Exists:
		why.Note = fmt.Sprintf("%s does not exist, and no pass that is remembered has written it", why.Resource)
	case d.Owner != "":
		why.Note = fmt.Sprintf("no pass that is remembered has written it; it belongs to %s, which has written it before", d.Owner)
	default:
		why.Note = "no pass that is remembered has written it, and it belongs to no controller: it was made from outside"
		if d.Updated != nil {
			why.Roots = append(why.Roots, api.Root{
				Kind: api.RootOutside, Resource: why.Resource, At: *d.Updated, Times: 1,
				Text: fmt.Sprintf("%s v%s, from outside", why.Resource, d.Version),
			})
		}
	}

	if why.Note != "" && remembered(book) == 0 {
		why.Note += "; " + noteOfNone(0)
	}

	return nil
}

func remembered(book *cause.Book) (passes int) {
	for _, name := range book.Controllers() {
		passes += len(book.Passes(name))
	}

	return passes
}

// WhyPass tells why a pass was made.
func (a *Answers) WhyPass(ref api.PassRef) (*api.Why, error) {
	if _, err := a.health(ref.Controller); err != nil {
		return nil, err
	}

	book := a.cfg.Engine.Book()

	p := book.Pass(ref.Controller, ref.Number)
	if p == nil {
		return nil, unknownPass(ref.Controller, ref.Number)
	}

	answer := book.Why(p)
	roots := rootFinder{book: book}
	roots.find(answer)

	return &api.Why{Pass: &ref, Roots: roots.all(), Trees: []*api.WhyPass{a.tree(book, answer)}}, nil
}

// WhyController tells why a controller runs: the last of its passes, and the roots of the last few.
func (a *Answers) WhyController(name string) (*api.Why, error) {
	if _, err := a.health(name); err != nil {
		return nil, err
	}

	book := a.cfg.Engine.Book()
	passes := book.Passes(name)

	if len(passes) == 0 {
		return &api.Why{Roots: []api.Root{}, Trees: []*api.WhyPass{}, Note: noteOfNone(0)}, nil
	}

	ref := passRef(&passes[0])
	why := &api.Why{Pass: &ref, Trees: []*api.WhyPass{}}
	roots := rootFinder{book: book}

	for i := range min(len(passes), asked) {
		answer := book.Why(&passes[i])
		roots.find(answer)

		if i == 0 {
			why.Trees = append(why.Trees, a.tree(book, answer))
		}
	}

	why.Roots = roots.all()

	return why, nil
}

// tree is an answer as a document.
func (a *Answers) tree(book *cause.Book, w *cause.Why) *api.WhyPass {
	out := &api.WhyPass{Pass: a.passOf(w.Pass), Because: make([]api.Because, 0, len(w.Because)), Seen: w.Seen, Elsewhere: w.Elsewhere, Cut: w.Cut}

	if w.Pass.Reasons&(cause.Retried|cause.Timed) != 0 {
		if before := book.Before(w.Pass); before != nil {
			ref := passRef(before)
			out.Before, out.BeforeFailure = &ref, before.Failure
		}
	}

	for i := range w.Because {
		b := &w.Because[i]
		because := api.Because{Cause: causeOf(&b.Cause), Outside: b.Others, Forgotten: b.Forgotten}

		for _, by := range b.By {
			because.By = append(because.By, a.tree(book, by))
		}

		out.Because = append(out.Because, because)
	}

	return out
}
