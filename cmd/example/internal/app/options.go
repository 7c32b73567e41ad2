package app

import (
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/guard"

	"github.com/switchyard-run/switchyard/cmd/example/internal/api"
)

// Options are what the command line says.
type Options struct {
	// Config is the path of the document. Empty means machine.yaml below the root, which is filled with Sample if it
	// is not there.
	Config string
	// Sample is the document for those who bring none.
	Sample []byte
	// Root is the directory that stands for the machine. Empty means a fresh one.
	Root string
	// HTTP is the address of the pages; empty for none.
	HTTP string
	// HTTPOpen allows an address that others than the users of this machine can connect to.
	HTTPOpen bool
	// Token is what whoever asks for a page has to know; nil for nothing.
	Token *guard.Token
	// Apply takes resources beside the pages: what a client of the state API may write, and no more.
	Apply bool
	// GRPC is the address of the state API; the zero value for none.
	GRPC api.Address
	// Once asks to converge, to tell what came of it and to stop, without opening a port.
	Once bool
	// Timeout is how long converging may take with Once.
	Timeout time.Duration
	// Record is the file that a recording of the run is written to; empty for none.
	Record string
	// Out gets what the user has asked for; the log goes to Logger.
	Out io.Writer
	// Logger gets everything that happens.
	Logger *zap.Logger
}
