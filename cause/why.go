package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
)

// deepest is how many passes an answer goes back, and most how many it has.
const (
	deepest = 32
	most    = 512
)

// Why is the answer to why a pass was made: what has caused it, who has made that, and why.
type Why struct {
	// Pass is the pass in question.
	Pass *Pass
	// Because is what has caused it, one for each of its causes.
	Because []Because
	// Repeats is the pass that this one makes again, with its own reasons, or nil: see [Book.Repeats].
	Repeats *Why
	// Seen tells that the pass stands further up already, which comes of passes that ran at the same time. Elsewhere tells that it
	// stands at another place of the answer with what has caused it, and Cut that the answer goes no further back. Own tells that it
	// is an earlier pass for the same, whose own change has come back together with that of others, which is no reason by itself.
	Seen, Elsewhere, Cut, Own bool
}

// Because is one cause, and who has made it.
type Because struct {
	Cause Cause
	// By are the passes that have made the changes, the earliest first, each with its own reasons.
	By []*Why
	// Others is how many changes no pass that is remembered has made, and Forgotten that some may have been made by one that
	// is not: see [Writers].
	Others    int
	Forgotten bool
	// Maybe is a pass that may have made what others have, since it has written more than is remembered, or nil.
	Maybe *Why
}

// Why returns why a pass was made, back to what was done from outside.
func (b *Book) Why(p *Pass) *Why { return (&answer{b, map[*Pass]place{}, 0}).why(p, deepest) }

// answer is an answer that is being found.
type answer struct {
	book   *Book
	places map[*Pass]place
	passes int
}

// place is where a pass stands in an answer.
type place uint8

const (
	above     place = iota + 1 // the passes in question lead to it
	elsewhere                  // in another branch
)

// WhyIs returns why a resource is as it is: for each pass that has written it last, one for each controller, the latest first.
func (b *Book) WhyIs(ptr resource.Pointer) (all []*Why) {
	all = []*Why{}
	known := map[string]bool{}
	by := b.WrittenBy(ptr)

	for i := len(by) - 1; i >= 0; i-- {
		if p := by[i]; !known[p.Controller] {
			known[p.Controller] = true

			all = append(all, b.Why(p))
		}
	}

	return all
}

func (a *answer) why(p *Pass, deep int) *Why {
	w := &Why{Pass: p}

	switch at := a.places[p]; {
	case at == above:
		w.Seen = true
	case at == elsewhere:
		w.Elsewhere = len(p.Causes) > 0 || a.book.Repeats(p) != nil
	case deep == 0 || a.passes == most:
		w.Cut = true
	default:
		a.passes++
		a.places[p] = above
		w.Because = a.because(p, deep-1)

		if before := a.book.Repeats(p); before != nil {
			w.Repeats = a.why(before, deep-1)
		}

		a.places[p] = elsewhere
	}

	return w
}

func (a *answer) because(p *Pass, deep int) (causes []Because) {
	for i := range p.Causes {
		c := &p.Causes[i]
		writers := a.book.Writers(p, c)
		because := Because{Cause: *c, Others: writers.Others, Forgotten: writers.Forgotten}

		for _, writer := range writers.Passes {
			if writer.sameAs(p) && (writers.Others > 0 || !all(writers.Passes, p.sameAs)) {
				because.By = append(because.By, &Why{Pass: writer, Own: true})
			} else {
				because.By = append(because.By, a.why(writer, deep))
			}
		}

		if writers.Maybe != nil {
			because.Maybe = a.why(writers.Maybe, deep)
		}

		causes = append(causes, because)
	}

	return causes
}

// sameAs tells whether two passes are of one controller and for the same.
func (p *Pass) sameAs(other *Pass) bool {
	return p.Controller == other.Controller && p.Doing == other.Doing && p.Item == other.Item
}

func all(passes []*Pass, is func(*Pass) bool) bool {
	return !slices.ContainsFunc(passes, func(p *Pass) bool { return !is(p) })
}

// String renders the answer as a tree, one line for each pass and each cause.
func (w *Why) String() string {
	var text strings.Builder

	w.render(&text, "")

	return text.String()
}

func (w *Why) render(text *strings.Builder, indent string) {
	fmt.Fprintf(text, "%s%s\n", indent, w.Pass.Title())

	switch {
	case w.Seen:
		fmt.Fprintf(text, "%s  which stands above\n", indent)
	case w.Elsewhere:
		fmt.Fprintf(text, "%s  for the reasons that stand elsewhere\n", indent)
	case w.Cut:
		fmt.Fprintf(text, "%s  and so on\n", indent)
	case w.Own:
		fmt.Fprintf(text, "%s  whose own change has come back\n", indent)
	}

	for i := range w.Because {
		w.Because[i].render(text, indent+"  ")
	}

	if w.Repeats != nil {
		fmt.Fprintf(text, "%s  which makes again\n", indent)
		w.Repeats.render(text, indent+"    ")
	}

	if more := w.Pass.More; more > 0 && !w.Seen && !w.Elsewhere && !w.Cut && !w.Own {
		fmt.Fprintf(text, "%s  and %d more changes\n", indent, more)
	}
}

func (b *Because) render(text *strings.Builder, indent string) {
	fmt.Fprintf(text, "%s%s", indent, b.Cause)

	switch {
	case b.Others == 0:
	case b.Maybe != nil:
		fmt.Fprintf(text, ", %d from outside or by a pass that has written more than is remembered", b.Others)
	case b.Forgotten:
		fmt.Fprintf(text, ", %d from outside or by a pass that is forgotten", b.Others)
	case len(b.By) == 0:
		text.WriteString(", from outside")
	default:
		fmt.Fprintf(text, ", %d of %d from outside", b.Others, b.Cause.Events)
	}

	text.WriteString("\n")

	for _, by := range b.By {
		by.render(text, indent+"  ")
	}

	if b.Maybe != nil {
		b.Maybe.render(text, indent+"  ")
	}
}

// Title says in a line which pass it is and what came of it, as "Recorder #3 reconcile Hosts(net/web): succeeded".
func (p *Pass) Title() string {
	text := fmt.Sprintf("%s #%d %s", p.Controller, p.Number, p.Doing)

	if p.Item.ID != "" {
		text += " " + p.Item.String()
	}

	text += ": " + p.Outcome.String()

	if p.Failure != "" {
		text += ": " + p.Failure
	}

	if p.Reasons != 0 {
		text += " (" + p.Reasons.String() + ")"
	}

	return text
}
