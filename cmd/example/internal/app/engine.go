package app

import (
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// passes is how many passes of each controller are remembered. It is more than the default: services that are looked at again and
// again, and a disk whose use changes, make many that find nothing to do, and would have those forgotten that have written something.
const passes = 8 * cause.DefaultPasses

// newEngine returns the engine that runs the controllers, which know nothing of it: they are written against the
// contract. What the pages show of it, and why its controllers have run, is all that needs this engine and no other.
//
// The statuses of services are read through the cache: everybody who waits for a service reads them, only one
// controller writes them.
func newEngine(st state.State, logger *zap.Logger) (*runtime.Runtime, error) {
	return runtime.New(st, logger, runtime.Config{
		Options: []options.Option{safe.WithResourceCache[*resources.ServiceStatus]()},
		Passes:  passes,
	})
}
