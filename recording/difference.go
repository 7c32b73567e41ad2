package recording

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
)

// doing is what a pass does in a replay.
type doing struct {
	question question
	// call is the recorded call that it corresponds to; nil if there is none.
	call *recordedCall
	// wrote is what it has written, once for each attempt.
	wrote []written
}

// written is what an attempt to write has come to: in a recording a content, in a replay a resource; or a failure.
type written struct {
	content  *content
	resource resource.Resource
	failure  *failure
}

func (w written) text() string {
	switch {
	case w.content != nil:
		return w.content.text()
	case w.resource != nil:
		c, err := encode(w.resource)
		if err != nil {
			return err.Error() + "\n"
		}

		return c.text()
	case w.failure != nil:
		return fmt.Sprintf("failed: %s\n", w.failure.Text)
	default:
		return "no error\n"
	}
}

// differ ends the replay because the present pass does something else than it did. Of what it has not come to yet, as many
// calls are shown as are ahead.
func (f *follower) differ(problem string, ahead int) {
	f.replay.fail(f.difference(problem, ahead, nil))
}

// everything is how many calls are ahead when a pass has ended.
const everything = math.MaxInt

// difference shows the present pass, as recorded and as replayed. Of a pass that has ended the outcome is shown too.
func (f *follower) difference(problem string, ahead int, is *outcome) *DifferenceError {
	f.mu.Lock()
	defer f.mu.Unlock()

	var (
		was     strings.Builder
		missing = 0
	)

	for _, c := range f.pass.calls() {
		if !f.claimed[c.Number] {
			if missing++; missing > ahead {
				continue
			}
		}

		was.WriteString(f.replay.callText(c))
	}

	// The order of requests may be another one; they are shown in the recorded one, and new ones where they came.
	var (
		place  int
		places = map[*doing]int{}
		made   = slices.Clone(f.made)
		now    strings.Builder
	)

	for _, d := range made {
		if d.call != nil {
			place = 2 * d.call.Number
			places[d] = place
		} else {
			places[d] = place + 1
		}
	}

	slices.SortStableFunc(made, func(a, b *doing) int { return cmp.Compare(places[a], places[b]) })

	for _, d := range made {
		now.WriteString(requestText(d.question.verb, d.question.of, d.question.with))

		for _, w := range d.wrote {
			now.WriteString(indent(w.text(), "  ") + "\n")
		}
	}

	if is != nil {
		now.WriteString(is.text())

		if f.pass.finish != nil {
			was.WriteString(f.pass.finish.Outcome.text())
		}
	}

	return &DifferenceError{
		Number: f.pass.Pass, Pass: f.pass.pass(), Problem: problem,
		Diff: unified("recorded", was.String(), "replayed", now.String()),
	}
}

// calls returns the calls of the pass in the order in which they began.
func (p *recordedPass) calls() []*recordedCall {
	byNumber := map[int]*recordedCall{}

	for _, e := range p.entries {
		if e.call != nil {
			byNumber[e.call.Number] = e.call
		}
	}

	calls := make([]*recordedCall, 0, len(byNumber))
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		calls = append(calls, byNumber[n])
	}

	return calls
}

func requestText(verb string, of name, with string) string {
	text := verb

	if of != (name{}) {
		text += " " + of.String()
	}

	if with != "" {
		text += fmt.Sprintf(" (%s)", with)
	}

	return text + "\n"
}

// callText is a recorded call for people.
func (r *replay) callText(c *recordedCall) string {
	text := requestText(c.Request.Verb, c.Request.Of, c.Request.With)

	for _, w := range r.tape.written(c) {
		text += indent(w.text(), "  ") + "\n"
	}

	return text
}

// written is what a recorded call has written.
func (t *tape) written(c *recordedCall) (all []written) {
	if c.Request.Content != 0 {
		all = append(all, written{content: t.contents[c.Request.Content]})
	}

	for _, a := range c.Attempts {
		all = append(all, written{content: t.contents[a.Made], failure: a.Error})
	}

	return all
}
