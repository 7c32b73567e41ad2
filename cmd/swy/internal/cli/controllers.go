package cli

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
	"github.com/switchyard-run/switchyard/inspect/api"
)

func (s *session) controllers() *cobra.Command {
	var format string

	command := &cobra.Command{
		Use: "controllers", Short: "Show what the controllers do", Args: between(0, 0),
		Long: `Shows all controllers: what each does, how many passes it has made, what waits in its queue, and what is wrong with it.`,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := oneOf("output", format, "table", "json"); err != nil {
				return err
			}

			ctx, done := s.limited(command.Context())
			defer done()

			c, err := s.engine()
			if err != nil {
				return err
			}

			all, err := c.Controllers(ctx)
			if err != nil {
				return err
			}

			if format == "json" {
				return s.answer(format, all)
			}

			rows := [][]string{{"CONTROLLER", "FORM", "STATE", "PASSES", "READY", "DELAYED", "FAILING", "OLDEST", "PROBLEM"}}
			for i := range all.Controllers {
				rows = append(rows, controllerRow(&all.Controllers[i]))
			}

			return (&show.Table{}).Write(s.Stdout, rows)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}

	command.Flags().StringVarP(&format, "output", "o", "table", "how to show them: table or json")
	offer(command, "output", "table", "json")

	return command
}

func controllerRow(c *api.Controller) []string {
	form := "classic"
	if c.Queue {
		form = "queue"
	}

	return append([]string{c.Name, form, string(c.State), strconv.FormatUint(c.Passes, 10)}, queueCells(c)...)
}

// queueCells are what there is to say of the items of a controller, and what is wrong with it.
func queueCells(c *api.Controller) []string {
	cells := []string{"", "", "", "", c.Problem}

	if c.Queue {
		for i, n := range []int{c.Ready, c.Delayed, c.Failing} {
			cells[i] = strconv.Itoa(n)
		}
	}

	if c.OldestWait > 0 {
		cells[3] = fmt.Sprint(c.OldestWait)
	}

	return cells
}
