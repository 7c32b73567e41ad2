package api

import (
	"fmt"
	"strings"
	"unicode"
)

// Printable returns text as one line that does nothing to a terminal: characters that control it, or that turn the order of
// what is read, are shown by their escapes.
func Printable(text string) string {
	if !strings.ContainsFunc(text, hidden) && strings.ToValidUTF8(text, "") == text {
		return text
	}

	var b strings.Builder

	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if hidden(r) {
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteRune(r)
		}
	}

	return b.String()
}

// hidden tells whether a character is not seen, or is not only seen.
func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// text is a text of several lines that is being written.
type text struct{ strings.Builder }

// line writes one line. The arguments may be anything; the format is ours.
func (t *text) line(indent int, format string, args ...any) {
	t.WriteString(strings.Repeat("  ", indent))
	t.WriteString(Printable(fmt.Sprintf(format, args...)))
	t.WriteByte('\n')
}

// mostLines is how many roots are told to people, since what is the matter is seen from a few, and mostPerhaps how many that may be of
// no account.
const mostLines, mostPerhaps = 8, 2

// String is the answer for people: the root causes first, then how it came.
func (w *Why) String() string {
	var t text

	if w.Says != "" {
		t.line(0, "it says")
		t.line(1, "%s", w.Says)
	}

	for i, root := range w.Roots {
		if i == 0 {
			t.line(0, "root cause")
		}

		if i == mostLines {
			t.line(1, "and %d more", len(w.Roots)-i)

			break
		}

		switch {
		case root.Times > 1:
			t.line(1, "%s (behind %d passes)", root.Text, root.Times)
		default:
			t.line(1, "%s", root.Text)
		}
	}

	if w.Note != "" {
		t.line(0, "%s", w.Note)
	}

	if len(w.Trees) > 0 {
		t.line(0, "how it came")
	}

	for _, tree := range w.Trees {
		tree.write(&t, 1)
	}

	return t.Builder.String()
}

func (w *WhyPass) write(t *text, indent int) {
	t.line(indent, "%s", w.Title)

	switch {
	case w.Seen:
		t.line(indent+1, "which stands above")
	case w.Elsewhere:
		t.line(indent+1, "for the reasons that stand elsewhere")
	case w.Cut:
		t.line(indent+1, "and so on")
	case w.Own:
		t.line(indent+1, "whose own change has come back")
	}

	if w.BeforeFailure != "" {
		t.line(indent+1, "%s had failed: %s", w.Before, w.BeforeFailure)
	}

	for i := range w.Because {
		b := &w.Because[i]
		by := ""

		switch {
		case b.Outside == 0:
		case b.Maybe != nil:
			by = ", from outside or by a pass that has written more than is remembered"
		case b.Forgotten:
			by = ", from outside or by a pass that is forgotten"
		case len(b.By) == 0:
			by = ", from outside"
		default:
			by = fmt.Sprintf(", %d of %d from outside", b.Outside, b.Cause.Events)
		}

		t.line(indent+1, "%s%s", b.Cause.Text, by)

		for _, pass := range b.By {
			pass.write(t, indent+2)
		}

		if b.Maybe != nil {
			b.Maybe.write(t, indent+2)
		}
	}

	if w.Repeats != nil {
		t.line(indent+1, "which makes again")
		w.Repeats.write(t, indent+2)
	}

	if w.More > 0 && !w.Seen && !w.Elsewhere && !w.Own {
		t.line(indent+1, "and %d more changes", w.More)
	}
}

// String is the answer for people: what is waited for in the end first, then what leads there.
func (b *Blocked) String() string {
	var t text

	if !b.Waits {
		t.line(0, "%s", b.Tree.Text)
	}

	perhaps := 0

	for i, root := range b.Roots {
		if i == 0 {
			t.line(0, "waits in the end for")
		}

		if root.Perhaps {
			perhaps++
		}

		if i == mostLines || perhaps > mostPerhaps {
			t.line(1, "and %d more", len(b.Roots)-i)

			break
		}

		if root.Perhaps {
			t.line(1, "perhaps: %s", root.Text)

			continue
		}

		t.line(1, "%s", root.Text)

		if root.Do != "" {
			t.line(2, "→ %s", root.Do)
		}
	}

	if b.Note != "" {
		t.line(0, "%s", b.Note)
	}

	if b.Waits {
		t.line(0, "how it hangs together")
		b.Tree.write(&t, 1)
	}

	return t.Builder.String()
}

func (o *Obstacle) write(t *text, indent int) {
	pass := ""
	if o.Pass != nil {
		pass = " [" + o.Pass.String() + "]"
	}

	t.line(indent, "%s%s", o.Text, pass)

	for _, because := range o.Because {
		because.write(t, indent+1)
	}
}
