package main

import (
	"context"
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
		fmt.Fprintln(os.Stderr, "soak: interrupted")
		os.Exit(130)
	default:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// command is the program.
func command(ctx context.Context, args []string, out, help io.Writer) error {
	s, err := parseFlags(args, help)
	if err != nil {
		return err
	}

	w, err := newWorld(s)
	if err != nil {
		return err
	}

	return w.run(ctx, out)
}
