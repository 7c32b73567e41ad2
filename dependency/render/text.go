package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchyard-run/switchyard/dependency/analysis"
)

const (
	labelRunes = 60
	idRunes    = 24
	titleRunes = 120
)

// Printable returns a name as one line of at most limit visible characters, for a picture. Control characters, line
// breaks, bytes that are no UTF-8 and marks that change the direction of text become their Go escapes. A name that
// is empty, or begins or ends with a space, is put in quotes. Out of the middle of a long name characters are taken
// and replaced by an ellipsis. A limit below 8 counts as 8.
func Printable(name string, limit int) string {
	if name == "" || strings.TrimSpace(name) != name {
		name = `"` + name + `"`
	}

	shown := make([]rune, 0, len(name))

	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)

		switch {
		case unicode.IsPrint(r) && r != unicode.ReplacementChar:
			shown = append(shown, r)
		case r == unicode.ReplacementChar && size > 1:
			shown = append(shown, r)
		default:
			escaped := strconv.QuoteToASCII(name[:size])
			shown = append(shown, []rune(escaped[1:len(escaped)-1])...)
		}

		name = name[size:]
	}

	limit = max(limit, 8)
	if len(shown) <= limit {
		return string(shown)
	}

	tail := limit / 3
	head := limit - tail - 1

	return string(shown[:head]) + "…" + string(shown[len(shown)-tail:])
}

// valid replaces what is no UTF-8. Encoding to JSON would do it too, but then the model would differ from its own
// document.
func valid(s string) string {
	return strings.ToValidUTF8(s, string(unicode.ReplacementChar))
}

func validAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = valid(name)
	}

	return out
}

// validReport returns a copy of the report that shares nothing with it and has only valid UTF-8.
func validReport(r analysis.Report) *analysis.Report {
	var out analysis.Report

	for _, loop := range r.Loops {
		cycle := make([]analysis.Step, len(loop.Cycle))
		for i, step := range loop.Cycle {
			cycle[i] = analysis.Step{
				Controller: valid(step.Controller),
				Namespace:  valid(step.Namespace),
				Type:       valid(step.Type),
			}
		}

		out.Loops = append(out.Loops, analysis.Loop{Controllers: validAll(loop.Controllers), Cycle: cycle})
	}

	for _, u := range r.Unproduced {
		out.Unproduced = append(out.Unproduced, analysis.Unproduced{
			Namespace: valid(u.Namespace),
			Type:      valid(u.Type),
			Readers:   validAll(u.Readers),
		})
	}

	for _, u := range r.Unread {
		out.Unread = append(out.Unread, analysis.Unread{Type: valid(u.Type), Writers: validAll(u.Writers)})
	}

	return &out
}
