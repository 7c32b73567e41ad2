// Command example is the control plane of a small appliance, and the showcase of the engine: it reads one document,
// makes a machine out of a directory (files, services, status), and keeps it that way.
//
// Begin reading in internal/controllers, whose package comment shows how the controllers meet; internal/app puts them
// together. The document that comes with the program is machine.yaml.
package main

import (
	_ "embed"
	"os"

	"github.com/switchyard-run/switchyard/cmd/example/internal/cli"
)

//go:embed machine.yaml
var sample []byte

func main() {
	os.Exit(cli.Program{
		Args:   os.Args[1:],
		Sample: sample,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
		Getenv: os.Getenv,
	}.Main())
}
