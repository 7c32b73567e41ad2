package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

func (s *session) why() *cobra.Command {
	q := &asking{session: s}

	return q.command("why (TYPE ID | CONTROLLER | CONTROLLER#N)", "Say why something has happened",
		`Says why a resource is as it is, why a controller runs, or why one of its passes was made: the root causes first, then how it came
from there. Passes are those that the engine remembers.`,
		"  swy why servicestatus web\n  swy why HealthController\n  swy why HealthController#12",
		func(ctx context.Context, c *client.Client) (fmt.Stringer, error) {
			switch {
			case q.ref != nil:
				return c.WhyResource(ctx, *q.ref)
			case q.pass != nil:
				why, err := c.WhyPass(ctx, *q.pass)
				if problem := (*client.Problem)(nil); !errors.As(err, &problem) || !problem.NotFound() {
					return why, err
				}

				if why, other := c.WhyController(ctx, q.controller); other == nil { // controllers may be called anything
					return why, nil
				}

				return nil, err
			default:
				return c.WhyController(ctx, q.controller)
			}
		})
}

func (s *session) blocked() *cobra.Command {
	q := &asking{session: s}

	return q.command("blocked (TYPE ID | CONTROLLER)", "Say what something waits for",
		`Says what a resource, or a controller, waits for in the end, what to do about it, and how it hangs together.`,
		"  swy blocked servicestatus web\n  swy blocked ProcessController",
		func(ctx context.Context, c *client.Client) (fmt.Stringer, error) {
			if q.ref != nil {
				return c.BlockedResource(ctx, *q.ref)
			}

			return c.BlockedController(ctx, q.controller)
		})
}

// asking is a question about a resource, or about a controller.
type asking struct {
	*session

	namespace, format string

	ref        *api.Ref
	controller string
	pass       *api.PassRef
}

// command is a command that asks the question.
func (q *asking) command(use, short, long, example string, ask func(context.Context, *client.Client) (fmt.Stringer, error)) *cobra.Command {
	command := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: between(1, 2),
		RunE: func(command *cobra.Command, args []string) error {
			if err := oneOf("output", q.format, "text", "json"); err != nil {
				return err
			}

			ctx, done := q.limited(command.Context())
			defer done()

			c, err := q.engine()
			if err != nil {
				return err
			}

			if err := q.about(ctx, c, args); err != nil {
				return err
			}

			answer, err := ask(ctx, c)
			if err != nil {
				return q.unknown(err)
			}

			return q.answer(q.format, answer)
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return q.completeSubject(command.Context(), args, q.namespace, begin)
		},
	}

	command.Flags().StringVarP(&q.namespace, "namespace", "n", "", "`namespace` of the resource (default that of the type)")
	command.Flags().StringVarP(&q.format, "output", "o", "text", "how to answer: text or json")
	offer(command, "output", "text", "json")

	return command
}

// numbered is a controller with the number of a pass, as a pass is called in answers.
var numbered = regexp.MustCompile(`(?s)^(.*?) ?#([0-9]+)$`)

// about finds out what the question is about.
func (q *asking) about(ctx context.Context, c *client.Client, args []string) error {
	if len(args) == 2 {
		kind, err := q.findRemote(ctx, c, args[0], q.namespace)
		if err != nil {
			return err
		}

		q.ref = &api.Ref{Namespace: kind.Namespace, Type: kind.Type, ID: args[1]}

		return nil
	}

	q.controller = args[0]

	if parts := numbered.FindStringSubmatch(args[0]); parts != nil {
		if number, err := strconv.ParseUint(parts[2], 10, 64); err == nil && number > 0 {
			q.pass = &api.PassRef{Controller: parts[1], Number: number}
		}
	}

	return nil
}

// unknown says where names and numbers are seen, if there is nothing of the one that was asked about.
func (q *asking) unknown(err error) error {
	problem := (*client.Problem)(nil)

	switch {
	case !errors.As(err, &problem) || !problem.NotFound() || q.ref != nil:
		return err
	case q.pass != nil:
		return &refusedError{problem.Problem.Error, fmt.Sprintf("only the last passes of each controller are remembered: swy passes %s shows which", q.pass.Controller)}
	default:
		return &refusedError{problem.Problem.Error, "swy controllers shows all; a resource is asked about by its type and its id"}
	}
}

// answer prints a document: its text, or all of it as JSON.
func (s *session) answer(format string, document any) error {
	if text, ok := document.(fmt.Stringer); ok && format != "json" {
		_, err := fmt.Fprint(s.Stdout, text)

		return err
	}

	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}

	_, err = fmt.Fprintf(s.Stdout, "%s\n", show.Inert(text))

	return err
}
