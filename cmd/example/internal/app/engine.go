package app

import (
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// newEngine returns the engine that runs the controllers, which know nothing of it: they are written against the
// contract. What the pages show of it, and why its controllers have run, is all that needs this engine and no other.
//
// The statuses of services are read through the cache: everybody who waits for a service reads them, only one
// controller writes them.
func newEngine(st state.State, logger *zap.Logger) (*runtime.Runtime, error) {
	return runtime.NewRuntime(st, logger, safe.WithResourceCache[*resources.ServiceStatus]())
}
