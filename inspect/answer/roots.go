package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// How many rounds make a circle: that many where an answer ends in nothing else, or more in any case.
const (
	someRounds = 3
	manyRounds = 8
)

// rootFinder gathers the roots of answers.
type rootFinder struct {
	book      *cause.Book
	rivalries []rivalry.Rivalry
	// roots are what was found, and known says where each stands.
	roots []found
	known map[string]int
	// counted are the roots that the present answer stands behind already.
	counted map[string]bool
	path    []step
}

// step is a pass on the way from the pass in question, and the cause that has led there from the one before.
type step struct {
	pass *cause.Pass
	via  *cause.Cause
}

// round tells passes that are the same again.
type round struct {
	controller string
	doing      cause.Doing
	item       reduced.Key
}

func roundOf(p *cause.Pass) round { return round{p.Controller, p.Doing, p.Item} }

func (a *Answers) rootFinder(book *cause.Book) *rootFinder {
	return &rootFinder{book: book, rivalries: a.cfg.Engine.Health().Rivalries, known: map[string]int{}}
}

func (f *rootFinder) find(w *cause.Why) {
	f.counted = map[string]bool{}
	f.descend(w, nil)
}

func (f *rootFinder) descend(w *cause.Why, via *cause.Cause) {
	f.path = append(f.path, step{w.Pass, via})
	defer func() { f.path = f.path[:len(f.path)-1] }()

	f.look(w)
}

// look looks at the pass to which the path leads, or at one that it makes again.
func (f *rootFinder) look(w *cause.Why) {
	if f.rounds(w.Pass) >= manyRounds {
		f.circle()

		return
	}

	if w.Seen || w.Elsewhere || w.Own {
		return
	}

	f.reasons(w.Pass)

	if w.Cut {
		f.dead(w.Pass, "what has led to "+passRef(w.Pass).String()+" lies too far back")

		return
	}

	for i := range w.Because {
		b := &w.Because[i]

		switch {
		case b.Maybe != nil:
			f.dead(w.Pass, fmt.Sprintf("%s, from outside or by %s, which has written more than is remembered", b.Cause, passRef(b.Maybe.Pass)))
			f.descend(b.Maybe, &b.Cause)
		case b.Others > 0 && b.Forgotten:
			f.dead(w.Pass, b.Cause.String()+", from outside or by a pass that is forgotten")
		case b.Others > 0:
			ref := refOf(b.Cause.Resource)
			f.add(api.Root{Kind: api.RootOutside, Text: b.Cause.String() + ", from outside", Resource: &ref}, ref.String(), w.Pass)
		}

		for _, by := range b.By {
			f.descend(by, &b.Cause)
		}
	}

	if more := w.Pass.More; more > 0 {
		f.dead(w.Pass, fmt.Sprintf("and %s that woke %s, of which no more is remembered", plural(int(more), "more change"), passRef(w.Pass)))
	}

	if w.Repeats != nil {
		f.look(w.Repeats)
	}
}

// rounds is how often a pass for the same is on the path.
func (f *rootFinder) rounds(p *cause.Pass) (n int) {
	for _, s := range f.path {
		if roundOf(s.pass) == roundOf(p) {
			n++
		}
	}

	return n
}

// dead is a way that leads to nothing that is remembered. If it went in circles, that is what there is to say.
func (f *rootFinder) dead(p *cause.Pass, text string) {
	if f.rounds(p) >= someRounds {
		f.circle()

		return
	}

	f.add(api.Root{Kind: api.RootForgotten, Text: text}, text, p)
}

// circle adds the circle in which the path ends: from the last pass back to the one for the same before.
func (f *rootFinder) circle() {
	last := len(f.path) - 1
	first := last - 1

	for first > 0 && roundOf(f.path[first].pass) != roundOf(f.path[last].pass) {
		first--
	}

	// A circle begins anywhere; the smallest name is as good as any, and always the same.
	steps := f.path[first+1 : last+1]
	slices.Reverse(steps)

	defer slices.Reverse(steps)

	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = fmt.Sprintf("%s writes %s", s.pass.Controller, s.via.Resource)
	}

	begin := slices.Index(names, slices.Min(names))
	names = slices.Concat(names[begin:], names[:begin])
	controller := steps[begin].pass.Controller

	for _, r := range f.rivalries {
		if slices.ContainsFunc(steps, func(s step) bool { return s.via.Resource == r.Resource }) {
			text := rivalText(&r)
			f.add(api.Root{Kind: api.RootLoop, Text: text}, text, f.path[last].pass)

			return // whose change has woken which of them is chance
		}
	}

	text := names[0] + ", which wakes it again, and so on"
	if len(names) > 1 {
		text = strings.Join(names, ", which wakes ") + ", which wakes " + controller + " again, and so on"
	}

	f.add(api.Root{Kind: api.RootLoop, Text: text}, text, f.path[last].pass)
}

// reasons adds why a pass was made beside changes.
func (f *rootFinder) reasons(p *cause.Pass) {
	title := p.Controller
	if p.Item.ID != "" {
		title += " for " + p.Item.String()
	}

	add := func(kind api.RootKind, text string) { f.add(api.Root{Kind: kind, Text: title + text}, title, p) }

	if p.Reasons&cause.Retried != 0 || p.Outcome == cause.Failed {
		text := " has failed, and is tried again"

		if failure := f.failure(p); p.Outcome != cause.Failed && failure != "" {
			text = " had failed before: " + failure
		} else if failure != "" {
			text = " fails, and is tried again: " + failure
		}

		add(api.RootFailure, text)
	}

	if p.Reasons&cause.Timed != 0 {
		add(api.RootTimer, " has asked to be run again")
	}

	if p.Reasons&cause.Triggered != 0 {
		add(api.RootAsked, " was asked for without any change")
	}

	if p.Reasons&(cause.Filled|cause.Started) != 0 {
		add(api.RootStart, " was started, or told to look at everything")
	}
}

// failure is why a pass has failed, or the one that it makes again.
func (f *rootFinder) failure(p *cause.Pass) string {
	if before := f.book.Before(p); p.Failure == "" && before != nil {
		return oneLine(before.Failure)
	}

	return oneLine(p.Failure)
}

// add adds a root that a pass has shown. What is about the same subject is one root, and the latest text is its text.
func (f *rootFinder) add(root api.Root, subject string, p *cause.Pass) {
	key := string(root.Kind) + " " + subject

	i, ok := f.known[key]
	if !ok {
		i = len(f.roots)
		f.known[key] = i
		pass := passRef(p)
		root.Pass, root.At = &pass, p.Began
		f.roots = append(f.roots, found{root, root.Kind == api.RootFailure && p.Outcome != cause.Failed})
	}

	if !f.counted[key] {
		f.counted[key] = true
		f.roots[i].Times++
	}
}

// found is a root that was found. It is over if it is a failure, and what has failed has succeeded since.
type found struct {
	api.Root
	over bool
}

// order is how telling the kinds of roots are.
var order = []api.RootKind{api.RootLoop, api.RootFailure, api.RootOutside, api.RootAsked, api.RootTimer, api.RootStart, api.RootForgotten}

// rank is how telling a root is. A failure that is over has delayed what was done, and has not caused it.
func (f *found) rank() int {
	if f.over {
		return slices.Index(order, api.RootTimer)
	}

	return slices.Index(order, f.Kind)
}

// all returns the roots, the most telling first.
func (f *rootFinder) all() []api.Root {
	slices.SortStableFunc(f.roots, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.Times, a.Times), b.At.Compare(a.At))
	})

	all := make([]api.Root, 0, len(f.roots))
	for i := range min(len(f.roots), mostRoots) {
		all = append(all, f.roots[i].Root)
	}

	return all
}
