// Package cli owns the command line of swy: commands, flags, exit codes, and what is printed.
//
// It starts no goroutine that outlives the call of [Program.Main].
package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// Program is what the command line needs from outside.
type Program struct {
	// Args are the arguments without the name of the program.
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
}

// session is one call of the program.
type session struct {
	Program

	http, grpc, tokenFile string
	timeout               time.Duration
	// began tells that the arguments are understood: what goes wrong from now on is no fault of how the program was called.
	began bool
}

const about = `swy asks a running engine what it does and why, reads its resources, and writes them where the host allows that.

It asks the handler of package inspect (--http) about controllers, passes and reasons, and the state API of the contract
(--grpc) about resources. An appliance has both:

  go run ./cmd/example -grpc unix:/tmp/appliance.sock
  export SWY_GRPC=unix:/tmp/appliance.sock

Exit codes: 0 done, 1 refused or not found, 2 not understood, 3 nobody answers.`

// Main runs the program until it is done or the context ends, and returns its exit code.
func (p Program) Main(ctx context.Context) int {
	s := &session{Program: p}
	root := s.root()
	root.SetArgs(doubled(p.Args, root))

	err := root.ExecuteContext(ctx)

	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && s.began:
		err = &refusedError{what: "ended by a signal before it was done"} // whoever goes on until then has returned no error
	case !s.began:
		err = &usageError{err}
	}

	fmt.Fprint(p.Stderr, explain(err))

	return codeOf(err)
}

func (s *session) root() *cobra.Command {
	root := &cobra.Command{
		Use: "swy", Short: "Ask a running engine what it does and why", Long: about,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			s.began = true

			if s.timeout <= 0 {
				return misused("--timeout: %s is not above 0", s.timeout)
			}

			return nil
		},
	}

	root.SetIn(s.Stdin)
	root.SetOut(s.Stdout)
	root.SetErr(s.Stderr)

	env := func(name, otherwise string) string {
		if value := s.Getenv(name); value != "" {
			return value
		}

		return otherwise
	}

	flags := root.PersistentFlags()
	flags.StringVar(&s.http, "http", env("SWY_HTTP", client.DefaultAddress), "`URL` of the handler of package inspect (SWY_HTTP)")
	flags.StringVar(&s.grpc, "grpc", env("SWY_GRPC", ""), "`address` of the state API: unix:PATH or tcp:HOST:PORT (SWY_GRPC)")
	flags.StringVar(&s.tokenFile, "token-file", env("SWY_TOKEN_FILE", ""), "`file` with the token, where the host asks for one (SWY_TOKEN_FILE)")
	flags.DurationVar(&s.timeout, "timeout", 10*time.Second, "how long to wait for an answer")

	root.AddCommand(
		s.get(), s.apply(), s.teardown(), s.destroy(),
		s.why(), s.blocked(), s.controllers(), s.passes(), s.graph(), s.top(),
		s.completion(), s.version(),
	)

	return root
}

// doubled gives long flags their second dash, so that -format is understood as --format is.
func doubled(args []string, root *cobra.Command) []string {
	long := map[string]bool{"help": true}

	note := func(f *pflag.Flag) { long[f.Name] = len(f.Name) > 1 }
	root.PersistentFlags().VisitAll(note)

	for _, command := range root.Commands() {
		command.Flags().VisitAll(note)
	}

	out := make([]string, 0, len(args))

	for i, arg := range args {
		if arg == "--" {
			return append(out, args[i:]...)
		}

		if name, ok := strings.CutPrefix(arg, "-"); ok {
			if name, _, _ := strings.Cut(name, "="); long[name] {
				arg = "-" + arg
			}
		}

		out = append(out, arg)
	}

	return out
}

// limited is a context for one question.
func (s *session) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, s.timeout, &unreachableError{
		what: fmt.Sprintf("there was no answer within %s", s.timeout), do: "ask again, or allow more time with --timeout",
	})
}

// say tells whoever calls the program something that is no answer.
func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.Stderr, "swy: %s\n", api.Printable(fmt.Sprintf(format, args...)))
}
