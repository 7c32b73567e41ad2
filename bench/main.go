package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)

	stop()

	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command is the program, parent or child.
func command(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) == 2 && args[0] == childMark {
		return obey(args[1], out)
	}

	s, err := parseFlags(args, progress)
	if err != nil {
		return err
	}

	if s.capacity {
		return full.run(ctx, out)
	}

	var chosen []*workload

	for _, w := range workloads() {
		if s.run.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}

	if len(chosen) == 0 {
		return fmt.Errorf("no workload matches -run %q: -list shows them", s.run)
	}

	if s.list {
		return list(out, chosen)
	}

	return compare(ctx, s, chosen, out, progress)
}

// compare runs workloads and says how the contenders compare. What was measured before an interruption is told, too.
func compare(ctx context.Context, s *settings, chosen []*workload, out, progress io.Writer) error {
	if s.profiles != "" {
		if err := os.MkdirAll(s.profiles, 0o755); err != nil {
			return fmt.Errorf("-profile: %w", err)
		}
	}

	r := &runner{settings: s, progress: progress}

	var (
		outcomes    []*outcome
		interrupted error
	)

	for _, w := range chosen {
		o, err := r.run(ctx, w)
		outcomes = append(outcomes, o)

		if err != nil {
			interrupted = err

			break
		}
	}

	if s.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")

		return errors.Join(interrupted, encoder.Encode(outcomes), problems(outcomes))
	}

	table := report(r, outcomes)
	if s.tracing {
		table = tracingReport(r, outcomes)
	}

	if s.write && interrupted == nil {
		if err := rewrite(page, table); err != nil {
			return err
		}
	}

	_, err := io.WriteString(out, table)

	return errors.Join(interrupted, err, problems(outcomes))
}
