package controllertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Turn is one step of a run: what had its turn, and what came of it.
type Turn struct {
	// Number counts the turns of a run, from 1. What happens before the first one is in turn 0.
	Number int
	// At is how much time has passed in the world.
	At time.Duration
	// What had its turn.
	What string
	// Why tells, for a pass, what has happened since the one before.
	Why string
	// Notes are what was done meanwhile, by whom: writes, failures, lines of the log.
	Notes []Note
}

// logged is by whom lines of the log are that name no controller.
const logged = "log"

// Note is one thing that was done.
type Note struct{ By, What string }

// Trace is what has happened in a world, turn by turn.
type Trace struct {
	// mu guards the fields below.
	mu    sync.Mutex
	turns []Turn
	// by is who has the turn, if it is a pass.
	by   *actor
	over bool

	began time.Time
}

func newTrace() *Trace { return &Trace{began: time.Now(), turns: []Turn{{What: "begin"}}} }

// Turns returns the turns so far.
func (t *Trace) Turns() []Turn {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.settle()

	return slices.Clone(t.turns)
}

func (t *Trace) turn(number int, what string, by *actor) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.settle()
	t.by = by
	t.turns = append(t.turns, Turn{Number: number, At: time.Since(t.began), What: what})
}

// end ends the trace: what happens while everything is stopped is of no interest.
func (t *Trace) end() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.over = true
}

// undo takes the last turn back, which could not be taken.
func (t *Trace) undo() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.turns = t.turns[:len(t.turns)-1]
	t.by = nil
}

// author returns the pass that has its turn, if it is one of the controller, or of any where none is named, and else what was
// given.
func (t *Trace) author(controller, other string) string {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.by == nil || controller != "" && controller != t.by.controller {
		return other
	}

	return t.by.String()
}

// settle brings the notes of the last turn into an order that does not depend on which goroutine was quicker: those of the pass
// that had the turn come first, as it has made them.
func (t *Trace) settle() {
	var first string
	if t.by != nil {
		first = t.by.String()
	}

	slices.SortStableFunc(t.turns[len(t.turns)-1].Notes, func(a, b Note) int {
		switch {
		case a.By == b.By:
		case a.By == first:
			return -1
		case b.By == first:
			return 1
		}

		order := strings.Compare(a.By, b.By)

		if order == 0 && (a.By == engine.controller || a.By == logged) {
			order = strings.Compare(a.What, b.What) // each of its watches has a goroutine
		}

		return order
	})
}

func (t *Trace) note(by, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.over {
		return
	}

	last := &t.turns[len(t.turns)-1]
	last.Notes = append(last.Notes, Note{By: by, What: fmt.Sprintf(format, args...)})
}

// because notes why the pass that has its turn runs.
func (t *Trace) because(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.turns[len(t.turns)-1].Why = why
}

// Hash is equal for two runs in which the same happened.
func (t *Trace) Hash() string {
	sum := sha256.Sum256([]byte(t.String()))

	return hex.EncodeToString(sum[:8])
}

// String renders all turns, one below the other.
func (t *Trace) String() string {
	var out strings.Builder

	for _, turn := range t.Turns() {
		turn.render(&out)
	}

	return out.String()
}

// repeated is how many turns that look like the one before are shown of a run of them.
const repeated = 2

// Last renders the last n turns, where of many in a row that look alike only some are shown and counted.
func (t *Trace) Last(n int) string {
	var (
		parts []string
		alike int
		last  string
	)

	for _, turn := range t.Turns() {
		if shape := turn.shape(); shape == last {
			alike++
		} else {
			alike, last = 0, shape
		}

		var part strings.Builder

		switch {
		case alike > repeated+1:
			parts = parts[:len(parts)-1]

			fallthrough
		case alike == repeated+1:
			fmt.Fprintf(&part, "         … and %d more like this, until +%s\n", alike-repeated, turn.At)
		default:
			turn.render(&part)
		}

		parts = append(parts, part.String())
	}

	if left := len(parts) - n; left > 0 {
		return fmt.Sprintf("  … %d turns before these\n", left) + strings.Join(parts[left:], "")
	}

	return strings.Join(parts, "")
}

func (turn *Turn) render(out *strings.Builder) {
	fmt.Fprintf(out, "%5d  +%-8s %s", turn.Number, turn.At, turn.What)

	if turn.Why != "" {
		fmt.Fprintf(out, "  <- %s", turn.Why)
	}

	out.WriteByte('\n')

	for _, note := range turn.Notes {
		if note.By == "" || note.By == turn.What {
			fmt.Fprintf(out, "                     %s\n", note.What)
		} else {
			fmt.Fprintf(out, "                     [%s] %s\n", note.By, note.What)
		}
	}
}

// shape is equal for turns that differ in numbers and units of time only.
func (turn *Turn) shape() string {
	var all strings.Builder

	all.WriteString(turn.What + turn.Why)

	for _, note := range turn.Notes {
		all.WriteString("\n" + note.By + " " + note.What)
	}

	return numbers.ReplaceAllString(all.String(), "0")
}

var numbers = regexp.MustCompile(`([0-9.]+(ns|µs|ms|s|m|h)?)+`)
