package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
)

// How many rounds make a circle: that many where an answer ends in nothing else, or more in any case.
const (
	someRounds = 3
	manyRounds = 8
)

// rootFinder gathers the roots of answers.
type rootFinder struct {
	book  *cause.Book
	roots []api.Root
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

func (f *rootFinder) find(w *cause.Why) {
	f.counted = map[string]bool{}
	f.descend(w, nil)
}

func (f *rootFinder) descend(w *cause.Why, via *cause.Cause) {
	f.path = append(f.path, step{w.Pass, via})
	defer func() { f.path = f.path[:len(f.path)-1] }()

	rounds := f.rounds(w.Pass)
	if rounds >= manyRounds || w.Seen {
		f.circle()

		return
	}

	if w.Elsewhere {
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
		case b.Others > 0 && b.Forgotten:
			f.dead(w.Pass, b.Cause.String()+", from outside or by a pass that is forgotten")
		case b.Others > 0:
			ref := refOf(b.Cause.Resource)
			f.add(api.RootOutside, b.Cause.String()+", from outside", &ref, w.Pass)
		}

		for _, by := range b.By {
			f.descend(by, &b.Cause)
		}
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

	f.add(api.RootForgotten, text, nil, p)
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

	if len(names) == 1 {
		f.add(api.RootLoop, names[0]+", which wakes it again, and so on", nil, f.path[last].pass)

		return
	}

	f.add(api.RootLoop, strings.Join(names, ", which wakes ")+", which wakes "+controller+" again, and so on", nil, f.path[last].pass)
}

// reasons adds why a pass was made beside changes.
func (f *rootFinder) reasons(p *cause.Pass) {
	title := p.Controller
	if p.Item.ID != "" {
		title += " for " + p.Item.String()
	}

	if p.Reasons&cause.Retried != 0 {
		text := title + " has failed, and is tried again"

		if before := f.book.Before(p); before != nil && before.Failure != "" {
			text = title + " fails, and is tried again: " + before.Failure
		}

		f.add(api.RootFailure, text, nil, p)
	}

	if p.Reasons&cause.Timed != 0 {
		f.add(api.RootTimer, title+" has asked to be run again", nil, p)
	}

	if p.Reasons&cause.Triggered != 0 {
		f.add(api.RootAsked, title+" was asked for without any change", nil, p)
	}

	if p.Reasons&(cause.Filled|cause.Started) != 0 {
		f.add(api.RootStart, title+" was started, or told to look at everything", nil, p)
	}
}

func (f *rootFinder) add(kind api.RootKind, text string, ref *api.Ref, p *cause.Pass) {
	key := string(kind) + " " + text

	// What is the same but for versions is the same.
	same := func(r api.Root) bool {
		return r.Kind == kind && (r.Text == text || kind == api.RootOutside && ref != nil && r.Resource != nil && *r.Resource == *ref)
	}

	if ref != nil {
		key = string(kind) + " " + ref.String()
	}

	i := slices.IndexFunc(f.roots, same)
	if i < 0 {
		pass := passRef(p)
		f.roots = append(f.roots, api.Root{Kind: kind, Text: text, Resource: ref, Pass: &pass, At: p.Began})
		i = len(f.roots) - 1
	}

	if !f.counted[key] {
		f.counted[key] = true
		f.roots[i].Times++
	}
}

// order is how telling the kinds of roots are.
var order = []api.RootKind{api.RootLoop, api.RootFailure, api.RootOutside, api.RootAsked, api.RootTimer, api.RootStart, api.RootForgotten}

// all returns the roots, the most telling first.
func (f *rootFinder) all() []api.Root {
	slices.SortStableFunc(f.roots, func(a, b api.Root) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(b.Times, a.Times), b.At.Compare(a.At))
	})

	return append([]api.Root{}, f.roots...)
}
