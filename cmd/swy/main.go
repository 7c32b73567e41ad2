// Command swy asks a running engine what it does and why, reads its resources, and writes them where the host allows that.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal is left to the system

	os.Exit(cli.Program{
		Args:   os.Args[1:],
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
	}.Main(ctx))
}
