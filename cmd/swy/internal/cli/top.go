package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// shortest is the shortest interval between two looks.
const shortest = 100 * time.Millisecond

// topping shows what an engine does, again and again.
type topping struct {
	*session

	interval time.Duration
	count    int

	// last is the last look, rates are the passes a second of each controller since the one before, and trouble is why there was no
	// other look since then.
	last    *api.Overview
	rates   map[string]float64
	trouble string
}

func (s *session) top() *cobra.Command {
	t := &topping{session: s}

	command := &cobra.Command{
		Use: "top", Short: "Show what the controllers do, again and again", Args: between(0, 0),
		Long: `Shows the controllers, those first that need a look, and how many passes they make a second. On a terminal the table is drawn in
place, and q ends it; elsewhere one table follows the other.`,
		RunE:              func(command *cobra.Command, _ []string) error { return t.run(command.Context()) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}

	command.Flags().DurationVarP(&t.interval, "interval", "n", 2*time.Second, "how long to wait between two looks")
	command.Flags().IntVar(&t.count, "count", 0, "how many times to look; 0 is for ever")

	return command
}

func (t *topping) run(ctx context.Context) error {
	if t.interval < shortest {
		return misused("--interval: %s is less than %s", t.interval, shortest)
	}

	c, err := t.engine()
	if err != nil {
		return err
	}

	if err := t.look(ctx, c); err != nil {
		return err
	}

	if out, ok := t.Stdout.(*os.File); ok && term.IsTerminal(int(out.Fd())) {
		screen, err := openScreen(out)
		if err != nil {
			return &refusedError{what: "the terminal can not be used: " + err.Error(), do: "pipe the output through cat for one table after the other"}
		}

		defer screen.close()

		return t.loop(ctx, c, screen)
	}

	return t.loop(ctx, c, &paper{out: t.Stdout})
}

// canvas is where tables are shown.
type canvas interface {
	// show shows a table that fits lines into width and height.
	show(draw func(width, height int) []string) error
	// quit is closed when the user has had enough; resized has something when the table has to be drawn anew.
	quit() <-chan struct{}
	resized() <-chan os.Signal
}

func (t *topping) loop(ctx context.Context, c *client.Client, on canvas) error {
	ticker := time.NewTicker(t.interval)
	defer ticker.Stop()

	for looks := 1; ; looks++ {
		if err := on.show(t.draw); err != nil {
			return err
		}

		if looks == t.count {
			return nil
		}

		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return nil
			case <-on.quit():
				return nil
			case <-on.resized():
				if err := on.show(t.draw); err != nil {
					return err
				}
			case <-ticker.C:
				waiting = false
			}
		}

		err := t.look(ctx, c)

		var silent *client.UnreachableError

		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &silent) || err != nil && codeOf(err) == exitUnreachable:
			t.trouble = err.Error()
		case err != nil:
			return err
		}
	}
}

// look asks the engine, and compares with the look before.
func (t *topping) look(ctx context.Context, c *client.Client) error {
	ctx, done := t.limited(ctx)
	defer done()

	now, err := c.Overview(ctx)
	if err != nil {
		return err
	}

	t.rates, t.trouble = ratesOf(t.last, now), ""
	t.last = now

	return nil
}

// ratesOf are the passes a second of each controller. What counts less than before is another engine.
func ratesOf(before, now *api.Overview) map[string]float64 {
	rates := map[string]float64{}

	if before == nil || !now.At.After(before.At) {
		return rates
	}

	counts := map[string]uint64{}
	for i := range before.Controllers {
		counts[before.Controllers[i].Name] = before.Controllers[i].Passes
	}

	for i := range now.Controllers {
		c := &now.Controllers[i]
		if then, ok := counts[c.Name]; ok && c.Passes >= then {
			rates[c.Name] = float64(c.Passes-then) / now.At.Sub(before.At).Seconds()
		}
	}

	return rates
}

// draw makes the lines of a table. A height of 0 is as many as there are, and a width of 0 as long as they are.
func (t *topping) draw(width, height int) []string {
	text := append([]string{t.summary()}, t.notes()...)
	text = append(text, t.table(width)...)

	if height > 0 && len(text) > height {
		hidden := len(text) - height + 1
		text = append(text[:height-1], fmt.Sprintf("and %d more", hidden))
	}

	for i, line := range text {
		if width > 0 {
			text[i] = show.Cut(line, width)
		}
	}

	return text
}

// mostNotes is how many problems stand above the table.
const mostNotes = 3

func (t *topping) notes() []string {
	var notes []string

	if t.trouble != "" {
		notes = append(notes, "not up to date: "+api.Printable(t.trouble))
	}

	for i, problem := range t.last.Problems {
		if i == mostNotes {
			notes = append(notes, fmt.Sprintf("and %d more problems", len(t.last.Problems)-mostNotes))

			break
		}

		notes = append(notes, "problem: "+api.Printable(problem))
	}

	return append(notes, "")
}

func (t *topping) summary() string {
	total, counts := 0.0, map[api.State]int{}

	for i := range t.last.Controllers {
		counts[t.last.Controllers[i].State]++
		total += t.rates[t.last.Controllers[i].Name]
	}

	text := fmt.Sprintf("%s   %d controllers, %.1f passes/s", t.last.At.UTC().Format("15:04:05"), len(t.last.Controllers), total)

	for _, state := range api.States() {
		if counts[state] > 0 {
			text += fmt.Sprintf(", %d %s", counts[state], state)
		}
	}

	if !t.last.Running {
		text += "   THE ENGINE DOES NOT RUN"
	}

	return text
}

// shortName is how much of a name stands in a narrow table at least.
const shortName = 24

// table makes the lines of the controllers. Long names are shortened in the middle, so that a third of the width is enough for them.
func (t *topping) table(width int) []string {
	rank := map[api.State]int{}
	for i, state := range api.States() {
		rank[state] = i
	}

	all := slices.Clone(t.last.Controllers)
	slices.SortFunc(all, func(a, b api.Controller) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(t.rates[b.Name], t.rates[a.Name]), cmp.Compare(a.Name, b.Name))
	})

	rows := [][]string{{"CONTROLLER", "STATE", "PASSES/S", "PASSES", "READY", "DELAYED", "FAILING", "OLDEST", "PROBLEM"}}

	for i := range all {
		c := &all[i]
		name := c.Name

		if width > 0 {
			name = render.Printable(name, max(width/3, shortName))
		}

		row := []string{name, string(c.State), fmt.Sprintf("%.1f", t.rates[c.Name]), strconv.FormatUint(c.Passes, 10)}
		rows = append(rows, append(row, queueCells(c)...))
	}

	var out bytes.Buffer

	_ = (&show.Table{}).Write(&out, rows) // a buffer takes everything

	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}
