package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (s *session) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version of swy", Args: between(0, 0),
		RunE: func(*cobra.Command, []string) error {
			text := "swy"

			if info, ok := debug.ReadBuildInfo(); ok {
				text += " " + info.Main.Version

				for _, setting := range info.Settings {
					if setting.Key == "vcs.revision" {
						text += " " + setting.Value
					}
				}

				text += " " + info.GoVersion
			}

			_, err := fmt.Fprintln(s.Stdout, text)

			return err
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}
