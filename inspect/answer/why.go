package answer

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
)

const (
	// asked is how many passes of a controller are asked why, so that what happens again and again is told from what happened
	// once, and mostAsked how many of all that have written a resource.
	asked, mostAsked = 8, 64
	// mostTrees is how many trees an answer has, mostRoots how many roots, and twice how often an answer shows passes for the
	// same before it stops: what comes then is the same again.
	mostTrees, mostRoots, twice = 8, 64, 2
)

// WhyResource tells why a resource is as it is: who has written it last, and what has led to that.
func (a *Answers) WhyResource(ctx context.Context, ref api.Ref) (*api.Why, error) {
	book := a.books.now()
	why := &api.Why{Resource: &ref, Roots: []api.Root{}, Trees: []*api.WhyPass{}}
	by := book.WrittenBy(keyOf(ref).Pointer())

	if len(by) == 0 {
		return why, a.unwritten(ctx, book, why)
	}

	count := map[string]int{}
	roots := a.rootFinder(book)
	passes := 0

	for _, p := range slices.Backward(by) {
		if count[p.Controller]++; count[p.Controller] > asked || passes == mostAsked {
			continue
		}

		passes++
		answer := book.Why(p)
		roots.find(answer)

		if count[p.Controller] == 1 && len(why.Trees) < mostTrees {
			why.Trees = append(why.Trees, a.tree(book, answer))
		}
	}

	why.Roots = a.evident(ctx, book, roots.all())

	if more := len(count) - len(why.Trees); more > 0 {
		why.Note = fmt.Sprintf("%s have written it that do not stand here", plural(more, "more controller"))
	}

	return why, a.overwritten(ctx, book, why)
}

// unwritten says why a resource is as it is that no pass is remembered to have written.
func (a *Answers) unwritten(ctx context.Context, book *cause.Book, why *api.Why) error {
	d, err := a.Resource(ctx, *why.Resource)
	if err != nil {
		return err
	}

	why.Says = d.Says

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
		kind, by := api.RootOutside, "from outside"
		if remembered(book) == 0 && len(d.Writers) > 0 || d.Updated != nil && (mayBeForgotten(book, *d.Updated, d.Writers) || book.Forgets(keyOf(d.Ref), *d.Updated)) {
			kind, by = api.RootForgotten, "from outside or by a pass that is forgotten"
		}

		why.Note = "no pass that is remembered has written it, and it belongs to no controller: it was made " + by
		if d.Updated != nil {
			why.Roots = append(why.Roots, api.Root{
				Kind: kind, Resource: why.Resource, At: *d.Updated, Times: 1,
				Text: fmt.Sprintf("%s v%s, %s", why.Resource, d.Version, by),
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

	book := a.books.now()

	p := book.Pass(ref.Controller, ref.Number)
	if p == nil {
		return nil, unknownPass(ref.Controller, ref.Number)
	}

	answer := book.Why(p)
	roots := a.rootFinder(book)
	roots.find(answer)

	return &api.Why{Pass: &ref, Roots: roots.all(), Trees: []*api.WhyPass{a.tree(book, answer)}}, nil
}

// WhyController tells why a controller runs: the last of its passes, and the roots of the last few.
func (a *Answers) WhyController(name string) (*api.Why, error) {
	if _, err := a.health(name); err != nil {
		return nil, err
	}

	book := a.books.now()
	passes := book.Passes(name)

	if len(passes) == 0 {
		return &api.Why{Roots: []api.Root{}, Trees: []*api.WhyPass{}, Note: noteOfNone(0)}, nil
	}

	ref := passRef(&passes[0])
	why := &api.Why{Pass: &ref, Trees: []*api.WhyPass{}}
	roots := a.rootFinder(book)

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
	return (&grower{a, book, map[round]int{}}).grow(w)
}

// grower makes a tree of an answer.
type grower struct {
	*Answers
	book *cause.Book
	// path counts the passes that stand above, by what they were for.
	path map[round]int
}

func (g *grower) grow(w *cause.Why) *api.WhyPass {
	out := &api.WhyPass{Pass: g.passOf(w.Pass), Because: []api.Because{}, Seen: w.Seen, Elsewhere: w.Elsewhere, Cut: w.Cut, Own: w.Own}

	if w.Pass.Reasons&(cause.Retried|cause.Timed) != 0 {
		if before := g.book.Before(w.Pass); before != nil {
			ref := passRef(before)
			out.Before, out.BeforeFailure = &ref, before.Failure
		}
	}

	if g.path[roundOf(w.Pass)] == twice && (len(w.Because) > 0 || w.Repeats != nil) {
		out.Cut = true

		return out
	}

	g.path[roundOf(w.Pass)]++
	defer func() { g.path[roundOf(w.Pass)]-- }()

	for i := range w.Because {
		b := &w.Because[i]
		because := api.Because{Cause: causeOf(&b.Cause), Outside: b.Others, Forgotten: b.Forgotten}

		for _, by := range b.By {
			because.By = append(because.By, g.grow(by))
		}

		if b.Maybe != nil {
			because.Maybe = g.grow(b.Maybe)
		}

		out.Because = append(out.Because, because)
	}

	if w.Repeats != nil {
		out.Repeats = g.grow(w.Repeats)
	}

	return out
}
