package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/inspect/api"
)

func (s *session) graph() *cobra.Command {
	var (
		format string
		check  bool
	)

	command := &cobra.Command{
		Use: "graph", Short: "Show the graph of the controllers, or what is to be said of it", Args: between(0, 0),
		Long: `Writes which controllers there are, what they read and what they write, as Mermaid, DOT, SVG or JSON. With --check it says
instead what is to be said of the declarations alone: loops, inputs that nobody writes, outputs that nobody reads. The exit code is 1
if any of it is a warning.`,
		Example: "  swy graph --format svg > graph.svg\n  swy graph --check",
		RunE: func(command *cobra.Command, _ []string) error {
			if err := oneOf("format", format, "mermaid", "dot", "svg", "json"); err != nil {
				return err
			}

			ctx, done := s.limited(command.Context())
			defer done()

			c, err := s.engine()
			if err != nil {
				return err
			}

			if check {
				found, err := c.Findings(ctx)
				if err != nil {
					return err
				}

				return s.findings(found.Findings)
			}

			text, err := c.Graph(ctx, format)
			if err != nil {
				return err
			}

			_, err = s.Stdout.Write(text)

			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}

	command.Flags().StringVar(&format, "format", "mermaid", "how to write it: mermaid, dot, svg or json")
	command.Flags().BoolVar(&check, "check", false, "say what is to be said of it instead")
	offer(command, "format", "mermaid", "dot", "svg", "json")

	return command
}

// findings prints findings, and refuses those that are warnings.
func (s *session) findings(all []api.Finding) error {
	warnings := 0

	for _, f := range all {
		if f.Severity == "warning" {
			warnings++
		}

		fmt.Fprintf(s.Stdout, "%s: %s\n", api.Printable(f.Severity), api.Printable(f.Text))
	}

	switch {
	case len(all) == 0:
		fmt.Fprintln(s.Stdout, "there is nothing to say of the declarations")

		return nil
	case warnings == 0:
		return nil
	default:
		return &refusedError{what: fmt.Sprintf("warnings: %d", warnings)}
	}
}
