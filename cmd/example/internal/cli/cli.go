// Package cli owns the command line: flags, usage, exit codes and signals. It starts no goroutine of its own.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/cmd/example/internal/api"
	"github.com/switchyard-run/switchyard/cmd/example/internal/app"
	"github.com/switchyard-run/switchyard/cmd/example/internal/services"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Program is what the command line needs from outside.
type Program struct {
	// Args are the arguments without the name of the program.
	Args []string
	// Sample is the document for those who bring none.
	Sample []byte
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
}

// Main runs the program and returns its exit code: 0 when it did what it was asked to, 1 when it failed, 2 when it
// did not understand.
func (p Program) Main() int {
	if len(p.Args) > 0 {
		switch p.Args[0] {
		case "service":
			return p.service(p.Args[1:])
		case "graph":
			return p.graph(p.Args[1:])
		}
	}

	return p.run(p.Args)
}

const usage = `example is the control plane of a small appliance: it makes a machine out of a directory.

  example [flags]                    run until Ctrl-C; a second one stops at once
  example -once [flags]              converge, show the result, stop
  example graph [-format FORMAT]     show the graph of the controllers
  example service NAME               run one of the sample services (%s)

Flags:
`

func (p Program) flags(name, usage string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(p.Stderr)

	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}

	return flags
}

// parse returns whether to go on, and the exit code if not.
func (p Program) parse(flags *flag.FlagSet, args []string) (int, bool) {
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK, false
	case err != nil:
		return exitUsage, false // the flag package has said why
	case flags.NArg() > 0:
		return p.misused(fmt.Errorf("unexpected argument %q", flags.Arg(0))), false
	default:
		return exitOK, true
	}
}

func (p Program) misused(err error) int {
	fmt.Fprintf(p.Stderr, "example: %s\nRun example -help for usage.\n", err)

	return exitUsage
}

func (p Program) failed(err error) int {
	fmt.Fprintf(p.Stderr, "example: %s\n", err)

	return exitFailed
}

func (p Program) run(args []string) int {
	var (
		flags = p.flags("example", fmt.Sprintf(usage, strings.Join(services.Names(), ", ")))
		opts  = app.Options{Sample: p.Sample, Out: p.Stdout}

		level   = zapcore.InfoLevel
		grpc    string
		token   string
		version bool
	)

	flags.StringVar(&opts.Config, "config", "", "the document, a `file` (default machine.yaml below the root, made from the sample if missing)")
	flags.StringVar(&opts.Root, "root", "", "the `directory` that stands for the machine (default a fresh one)")
	flags.StringVar(&opts.HTTP, "http", "127.0.0.1:8080", "where to serve pages, as `host:port`; empty for nowhere")
	flags.BoolVar(&opts.HTTPOpen, "http-open", false, "allow -http an address that others than the users of this machine can connect to; needs -http-token-file")
	flags.StringVar(&token, "http-token-file", "", "have the pages ask for the token in this `file`, which nobody but you may read (default no token)")
	flags.BoolVar(&opts.Apply, "apply", false, "take resources at /apply of the pages, as YAML: what may be written by -grpc, and no more")
	flags.StringVar(&grpc, "grpc", "", "where to offer the state, as `address` unix:PATH or tcp:HOST:PORT on the loopback interface (default nowhere)")
	flags.BoolVar(&opts.Once, "once", false, "converge, print all resources, stop, and exit with 0 or, if the machine did not get ready, 1; opens no port")
	flags.DurationVar(&opts.Timeout, "timeout", 30*time.Second, "how long -once may take to converge")
	flags.StringVar(&opts.Record, "record", "", "the `file` to write a recording of the run to, for a replay in a test (default none)")
	flags.TextVar(&level, "log-level", level, "the lowest `level` to log: debug, info, warn or error")
	flags.BoolVar(&version, "version", false, "print the version and exit")

	if code, ok := p.parse(flags, args); !ok {
		return code
	}

	if version {
		fmt.Fprintln(p.Stdout, versionText())

		return exitOK
	}

	var err error

	if opts.GRPC, err = api.ParseAddress(grpc); err != nil {
		return p.misused(fmt.Errorf("-grpc: %w", err))
	}

	if opts.Token, err = readToken(token); err != nil {
		return p.misused(fmt.Errorf("-http-token-file: %w", err))
	}

	if err := checkPages(opts); err != nil {
		return p.misused(err)
	}

	if opts.Timeout <= 0 {
		return p.misused(fmt.Errorf("-timeout: %s is not above 0", opts.Timeout))
	}

	opts.Logger = newLogger(p.Stderr, level)

	return p.control(opts)
}

// control runs the control plane under the signals of the user: the first asks it to stop, the second to stop at once,
// and the third is left to the system.
func (p Program) control(opts app.Options) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)

	defer signal.Stop(signals)

	// A terminal that is closed is no reason to leave services behind, unless it was meant to be (nohup).
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}

	// Nor is it one that nobody reads what is printed any more. What is caught fails the write and nothing else.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)

	defer signal.Stop(pipes)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	hard, kill := context.WithCancel(context.Background())
	defer kill()

	done := make(chan error, 1)

	go func() { // the loop below waits for it
		done <- app.Run(ctx, hard, opts)
	}()

	for {
		select {
		case <-signals:
			if ctx.Err() == nil {
				stop()
			} else {
				kill()
				signal.Stop(signals)
			}
		case err := <-done:
			if err != nil {
				return p.failed(err)
			}

			return exitOK
		}
	}
}

func (p Program) graph(args []string) int {
	formats := strings.Join(app.GraphFormats(), ", ")
	flags := p.flags("example graph", "example graph shows how the controllers of the appliance depend on each other.\n\nFlags:\n")
	format := flags.String("format", app.GraphFormats()[0], "how to write the graph: "+formats)

	if code, ok := p.parse(flags, args); !ok {
		return code
	}

	known := false

	for _, f := range app.GraphFormats() {
		known = known || f == *format
	}

	if !known {
		return p.misused(fmt.Errorf("-format: %q is none of %s", *format, formats))
	}

	text, err := app.Graph(context.Background(), *format)
	if err != nil {
		return p.failed(err)
	}

	if _, err := p.Stdout.Write(text); err != nil {
		return p.failed(err)
	}

	return exitOK
}

func (p Program) service(args []string) int {
	if len(args) != 1 {
		return p.misused(fmt.Errorf("service takes the name of a sample service: %s", strings.Join(services.Names(), ", ")))
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := services.Run(ctx, args[0], p.Getenv, p.Stdout); err != nil {
		return p.failed(err)
	}

	return exitOK
}

func versionText() string {
	text := "example"

	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}

	text += " " + info.Main.Version

	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}

	return text + " " + info.GoVersion
}
