package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/runtime"
)

// lostError is an update that was lost.
type lostError struct {
	group       *group
	patience    time.Duration
	differences []string
	// health are the kinds and the controllers of the group.
	health []string
}

// mostDifferences is how many differences an error tells of.
const mostDifferences = 20

// Error tells what differs, and what the engine knows of the group.
func (e *lostError) Error() string {
	var text strings.Builder

	fmt.Fprintf(&text, "lost update: %s does not follow its sources %s after the last change and the last fault, in %d places:\n",
		e.group, e.patience, len(e.differences))

	for i, difference := range e.differences {
		if i == mostDifferences {
			fmt.Fprintln(&text, "  …")

			break
		}

		fmt.Fprintln(&text, " ", difference)
	}

	text.WriteString("what the engine knows of it:")

	for _, line := range e.health {
		text.WriteString("\n  " + line)
	}

	return text.String()
}

// check has the writer of one group pause and its faults end, and waits for its outputs to follow.
func (w *world) check(ctx context.Context, g *group) error {
	g.writing.Lock()
	defer g.writing.Unlock()

	g.faults.set(false)
	defer g.faults.set(true)

	return w.follows(ctx, g)
}

// The time between two looks at a group.
const (
	firstLook = 10 * time.Millisecond
	lastLook  = 300 * time.Millisecond
)

// follows waits for the outputs of a group to be what the model says. It returns a lostError when they take too long.
func (w *world) follows(ctx context.Context, g *group) error {
	deadline := time.Now().Add(w.settings.patience)

	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		differences, err := g.differences(ctx)

		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case len(differences) == 0:
			w.counts.checked.Add(1)

			return nil
		case time.Now().After(deadline):
			w.counts.lost.Add(1)

			return &lostError{g, w.settings.patience, differences, w.health(g)}
		}

		wait(ctx, pause)
	}
}

// health renders what the engine knows of a group.
func (w *world) health(g *group) []string {
	var lines []string

	health := w.engine.Health()

	for _, kind := range health.Kinds {
		if kind.Namespace == g.String() {
			lines = append(lines, fmt.Sprintf("%s: open %t, synced %t, cached %t, %d known%s",
				kind.Kind, kind.Open, kind.Synced, kind.Cached, kind.Known, failure(kind.Attempt, kind.Err)))
		}
	}

	for _, c := range health.Controllers {
		if strings.HasSuffix(c.Name, strings.TrimPrefix(g.String(), "group")) {
			lines = append(lines, fmt.Sprintf("%s: %s, %d ready, %d delayed, %d in a pass, %d failing, stuck %t%s",
				c.Name, c.Phase, c.Ready, c.Delayed, c.Processing, c.Failing, c.Stuck, failure(c.Attempt, c.LastError)))
		}
	}

	return lines
}

// failure renders a last failure, if there is one.
func failure(attempt int, err error) string {
	if err == nil {
		return ""
	}

	return fmt.Sprintf(", failure %d: %v", attempt, err)
}

// idle tells whether all watches are open, and no controller has anything to do.
func idle(health runtime.Health) bool {
	for _, kind := range health.Kinds {
		if !kind.Open || !kind.Synced {
			return false
		}
	}

	for _, c := range health.Controllers {
		if c.Phase != adapter.Running || !c.BusySince.IsZero() || c.Ready+c.Delayed+c.Processing > 0 {
			return false
		}
	}

	return true
}
