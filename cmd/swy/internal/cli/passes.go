package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// telling tells of passes, the first first.
type telling struct {
	*session

	controller, format string
	follow             bool
	limit              int

	// listed are the passes that were told of until the stream is known to be open. It is nil from then on.
	listed map[api.PassRef]bool
}

func (s *session) passes() *cobra.Command {
	t := &telling{session: s}

	command := &cobra.Command{
		Use: "passes [CONTROLLER]", Short: "Show the last passes, and go on with those to come", Args: between(0, 1),
		Long: `Shows the last passes of a controller, or of all, the latest last: when it began, what it was, and what came of it. swy why
says why one was made. With -f it goes on, and shows passes as they end.`,
		Example: "  swy passes ProcessController\n  swy passes -f",
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				t.controller = args[0]
			}

			return t.run(command.Context())
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}

			return s.completeController(command.Context(), begin)
		},
	}

	flags := command.Flags()
	flags.BoolVarP(&t.follow, "follow", "f", false, "go on with passes as they end")
	flags.IntVar(&t.limit, "limit", 20, "how many of the past to show")
	flags.StringVarP(&t.format, "output", "o", "text", "how to show them: text or json, one in each line")
	offer(command, "output", "text", "json")

	return command
}

func (t *telling) run(ctx context.Context) error {
	if err := oneOf("output", t.format, "text", "json"); err != nil {
		return err
	}

	if t.limit < 1 {
		return misused("--limit: %d is not above 0", t.limit)
	}

	c, err := t.engine()
	if err != nil {
		return err
	}

	t.listed = map[api.PassRef]bool{}

	if err := t.list(ctx, c); err != nil || !t.follow {
		return err
	}

	return t.goOn(ctx, c)
}

// list tells of passes that have been made and were not told of.
func (t *telling) list(ctx context.Context, c *client.Client) error {
	ctx, done := t.limited(ctx)
	defer done()

	past, err := c.Passes(ctx, t.controller, t.limit)
	if err != nil {
		return err
	}

	if past.Note != "" {
		t.say("%s", past.Note)
	}

	for _, p := range slices.Backward(past.Passes) {
		if err := t.tell(&p); err != nil {
			return err
		}
	}

	return nil
}

// tell tells of a pass, once. What has not ended yet is told of when it has, if that is waited for.
func (t *telling) tell(p *api.Pass) error {
	if t.follow && p.Outcome == "running" || t.listed[p.PassRef] {
		return nil
	}

	if t.listed != nil {
		t.listed[p.PassRef] = true
	}

	if t.format != "json" {
		_, err := fmt.Fprintf(t.Stdout, "%s  %s\n", p.Began.UTC().Format("15:04:05.000"), api.Printable(p.Title))

		return err
	}

	text, err := json.Marshal(p)
	if err != nil {
		return err
	}

	_, err = fmt.Fprintf(t.Stdout, "%s\n", show.Inert(text))

	return err
}

// goOn tells of passes as they end, until the context does. It goes on when the other side has gone, and come back.
func (t *telling) goOn(ctx context.Context, c *client.Client) error {
	for attempt := 1; ; attempt++ {
		var failed error

		for followed, err := range c.Follow(ctx, t.controller) {
			if failed = err; err != nil {
				break
			}

			attempt = 0

			if err := t.followed(ctx, c, followed); ctx.Err() == nil && err != nil {
				return err
			}
		}

		silent := (*client.UnreachableError)(nil)

		switch {
		case ctx.Err() != nil:
			return nil
		case failed != nil && !errors.As(failed, &silent):
			return failed
		}

		delay := again.Delay(max(attempt, 1), rand.Float64)
		t.say("the stream has ended, trying again in %s: %v", delay.Round(time.Millisecond), failed)

		if !backoff.Sleep(ctx, clockwork.NewRealClock(), delay) {
			return nil
		}
	}
}

// followed tells of what a stream tells. With its first event is known that nothing is missed from now on; what was made between
// the list and that is told first.
func (t *telling) followed(ctx context.Context, c *client.Client, f client.Followed) error {
	if t.listed != nil {
		if err := t.list(ctx, c); err != nil {
			return err
		}
	}

	switch {
	case f.Dropped != nil:
		t.say("%d passes are not shown: %s", f.Dropped.Passes, f.Dropped.Why)
	case f.Pass != nil:
		if err := t.tell(f.Pass); err != nil {
			return err
		}
	}

	t.listed = nil

	return nil
}
