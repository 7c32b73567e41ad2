package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// serviceController is the name of the controller, and so the finalizer that a service carries as long as it has a
// process.
const serviceController = "ServiceController"

// services decides which processes shall run. It fills in what a service leaves open (addresses, variables), keeps a
// process from starting until all that it needs is ready, and takes a process away, when its service goes or the
// machine is stopped, only after the processes that need it have gone. So services start in the order of their needs
// and stop in the reverse order. How a service is doing is its status.
//
// Once started, a process is not stopped because something it needs has failed: it has to cope with that anyway.
type services struct {
	// self is the path of this program, root the absolute path of the root directory; both are for the environment
	// of services.
	self, root string
	status     *operator.StatusOf[resources.ServiceData]
}

// NewServiceController returns the controller of the services.
func NewServiceController(self, root string) *operator.Controller[*resources.Service] {
	// Who makes services out of the document destroys them, too.
	c := operator.For[*resources.Service](serviceController).WithoutDestroyer()
	s := &services{self, root, operator.Status[resources.ServiceData, resources.ServiceStatusExtension](c)}

	operator.Owns[*resources.Process](c)
	operator.Watch(c, operator.SameID[*resources.ProcessStatus])
	operator.Watch(c, operator.SameID[*resources.HealthStatus])
	operator.Watch(c, operator.SameID[*resources.RestartRequest])
	operator.WatchNamed[*resources.PowerState](c, func(*resources.Service) []resource.ID { return []resource.ID{resources.TheMachine} })
	operator.WatchNamed[*resources.Endpoint](c, func(svc *resources.Service) []resource.ID {
		return append([]resource.ID{svc.Metadata().ID()}, svc.TypedSpec().Needs...)
	})

	// A service waits for what it needs to be ready, and when it stops for those that need it to be gone.
	operator.WatchNamed[*resources.ServiceStatus](c, func(svc *resources.Service) []resource.ID { return svc.TypedSpec().Needs })
	operator.Watch(c, func(process *resources.Process) []resource.ID { return resources.Needs(process.Metadata()) })

	return c.Reconcile(s.reconcile).Finalize(serviceController, s.stop)
}

func (s *services) reconcile(ctx context.Context, svc *resources.Service, c *operator.Context[*resources.Service]) error {
	off, err := powerOff(ctx, c.Runtime())
	if err != nil {
		return err
	}

	if off {
		if err := s.stop(ctx, svc, &c.StageContext); err != nil {
			return err
		}

		return operator.Wait("Stopped", operator.Message("the machine is being stopped"))
	}

	status, err := s.observe(ctx, svc, c)
	if err != nil {
		return err
	}

	process, err := s.process(ctx, svc, c)
	if err != nil {
		return err
	}

	health, err := found(operator.Get[*resources.HealthStatus](ctx, c, svc.Metadata().ID()))
	if err != nil {
		return err
	}

	return readiness(*process.TypedSpec(), status, health)
}

// observe notes what is known of the process of a service, which may be nil.
func (s *services) observe(ctx context.Context, svc *resources.Service, c operator.Pass) (*resources.ProcessStatus, error) {
	status, err := found(operator.Get[*resources.ProcessStatus](ctx, c, svc.Metadata().ID()))

	s.status.Set(c, func(data *resources.ServiceData) {
		if data.PID = 0; status != nil {
			data.PID, data.Restarts = status.TypedSpec().PID, status.TypedSpec().Restarts
		}
	})

	return status, err
}

// stop takes the process of a service away, when its turn has come, and has nothing more to do when it is gone.
func (s *services) stop(ctx context.Context, svc *resources.Service, c *operator.StageContext) error {
	if _, err := s.observe(ctx, svc, c); err != nil {
		return err
	}

	id := svc.Metadata().ID()

	dependents, err := operator.List[*resources.Process](ctx, c, state.WithLabelQuery(resource.LabelExists(resources.NeedLabel(id))))
	if err != nil {
		return err
	}

	if len(dependents) > 0 {
		return operator.Wait("Stopping", operator.Message("waits for %d that need it to stop", len(dependents)))
	}

	if err := operator.Prune[*resources.Process](ctx, c); err != nil {
		return err
	}

	process, err := found(operator.Get[*resources.Process](ctx, c, id))
	if err == nil && process != nil {
		return operator.Wait("Stopping", operator.Message("its process has not ended yet"))
	}

	return err
}

// process writes the process of a service.
func (s *services) process(ctx context.Context, svc *resources.Service, c operator.Pass) (*resources.Process, error) {
	spec, err := s.fillIn(ctx, c, *svc.TypedSpec())
	if err != nil {
		return nil, err
	}

	request, err := found(operator.Get[*resources.RestartRequest](ctx, c, svc.Metadata().ID()))
	if err != nil {
		return nil, err
	}

	return operator.EnsureWithResult(ctx, c, &resources.Process{}, func(process *resources.Process) {
		old := *process.TypedSpec()

		if spec.Attempt = old.Attempt; request != nil {
			spec.Attempt = attempt(request)
		}

		if len(old.WaitingFor) == 0 && old.Revision == spec.Revision {
			spec.WaitingFor = nil // it was let go before
		}

		*process.TypedSpec(), *process.Metadata().Labels() = spec, *svc.Metadata().Labels()
	})
}

// attempt identifies a request by its time, which tells it from the next one; met twice, it restarts once.
func attempt(request *resources.RestartRequest) string {
	return request.Metadata().Created().UTC().Format(time.RFC3339Nano)
}

// fillIn makes a process of a service, and waits for its address where it has one.
func (s *services) fillIn(ctx context.Context, c operator.Pass, svc resources.ServiceSpec) (spec resources.ProcessSpec, err error) {
	env := maps.Clone(svc.Env)
	if env == nil {
		env = make(map[string]string)
	}

	env[document.VarSelf], env[document.VarRoot], env[document.VarName] = s.self, s.root, svc.Name

	spec = resources.ProcessSpec{
		Revision: svc.Revision(),
		OneShot:  svc.Kind == document.OneShot,
		Restart:  svc.Restart,
		Stop:     svc.Stop,
		Health:   svc.Health,
	}

	var address string

	if svc.Port != 0 {
		endpoint, err := found(operator.Get[*resources.Endpoint](ctx, c, svc.Name))
		if err != nil {
			return spec, err
		}

		if endpoint == nil {
			return spec, operator.Wait("Pending", operator.Message("has no address yet"))
		}

		address = endpoint.TypedSpec().Address
		env[document.VarPort], env[document.VarAddress] = fmt.Sprint(endpoint.TypedSpec().Port), address

		if svc.Health.Path != "" {
			spec.HealthURL = "http://" + address + svc.Health.Path
		}
	}

	s.status.Set(c, func(data *resources.ServiceData) { data.Address = address })

	for _, need := range svc.Needs {
		endpoint, err := found(operator.Get[*resources.Endpoint](ctx, c, need))
		if err != nil {
			return spec, err
		}

		if endpoint != nil {
			env[document.AddressVariable(need)] = endpoint.TypedSpec().Address
		}

		ready, err := isReady(ctx, c, need)
		if err != nil {
			return spec, err
		}

		if !ready {
			spec.WaitingFor = append(spec.WaitingFor, need)
		}
	}

	for _, word := range svc.Command {
		spec.Command = append(spec.Command, document.Expand(word, func(name string) string { return env[name] }))
	}

	for _, name := range slices.Sorted(maps.Keys(env)) {
		spec.Env = append(spec.Env, name+"="+env[name])
	}

	return spec, nil
}

// isReady tells whether a service is ready as it is meant to be now: what its status says of a time before it was
// changed does not count.
func isReady(ctx context.Context, c operator.Pass, id resource.ID) (bool, error) {
	svc, err := found(operator.Get[*resources.Service](ctx, c, id))
	if err != nil || svc == nil {
		return false, err
	}

	status, err := found(operator.Cached[*resources.ServiceStatus](ctx, c, id))
	view := operator.Joined(svc, status)

	return !view.Stale && view.Status.Conditions.Holds(operator.Ready), err
}
