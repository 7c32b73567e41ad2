package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// ServiceController decides which processes shall run. It fills in what a service leaves open (addresses, variables),
// keeps a process from starting until all that it needs is ready, and takes a process away, when its service goes or
// the machine is stopped, only after the processes that need it have gone. So services start in the order of their
// needs and stop in the reverse order.
//
// Once started, a process is not stopped because something it needs has failed: it has to cope with that anyway.
type ServiceController struct {
	// Self is the path of this program, Root the absolute path of the root directory; both are for the environment
	// of services.
	Self, Root string
}

// serviceController is the name of the controller, and so the finalizer that a service carries as long as it has a
// process.
const serviceController = "ServiceController"

// Name implements [controller.QController].
func (ctrl *ServiceController) Name() string { return serviceController }

// Settings implements [controller.QController].
func (ctrl *ServiceController) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			safe.Input[*resources.Service](controller.InputQPrimary),
			safe.Input[*resources.Process](controller.InputQMapped),
			safe.Input[*resources.Endpoint](controller.InputQMapped),
			safe.Input[*resources.ServiceStatus](controller.InputQMapped),
			safe.Input[*resources.RestartRequest](controller.InputQMapped),
			safe.Input[*resources.PowerState](controller.InputQMapped),
		},
		Outputs: []controller.Output{
			{Type: resources.ProcessType, Kind: controller.OutputExclusive},
			// Requests are torn down when they have been met.
			{Type: resources.RestartRequestType, Kind: controller.OutputShared},
		},
		Concurrency: optional.Some[uint](4),
	}
}

// MapInput implements [controller.QController]: whose turn is it when something else than the service changes?
func (ctrl *ServiceController) MapInput(
	ctx context.Context, _ *zap.Logger, r controller.QRuntime, in controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	own := resources.NewService(in.ID()).Metadata()

	switch in.Type() {
	case resources.RestartRequestType:
		return []resource.Pointer{own}, nil
	case resources.PowerStateType:
		return services(ctx, r)
	case resources.ProcessType:
		// A process that has gone may be the last that others waited for to go. Who that is cannot be told from the
		// process any more, so all who wait are asked.
		waiting, err := ctrl.leaving(ctx, r)

		return append(waiting, own), err
	case resources.EndpointType:
		dependents, err := services(ctx, r, needing(in.ID()))

		return append(dependents, own), err
	case resources.ServiceStatusType:
		return services(ctx, r, needing(in.ID()))
	default:
		return nil, fmt.Errorf("unexpected input %s", in.Type())
	}
}

// needing selects what carries the label of a needed service.
func needing(service resource.ID) state.ListOption {
	return state.WithLabelQuery(resource.LabelExists(resources.NeedLabel(service)))
}

func services(ctx context.Context, r controller.Reader, opts ...state.ListOption) ([]resource.Pointer, error) {
	list, err := safe.ReaderListAll[*resources.Service](ctx, r, opts...)
	if err != nil {
		return nil, err
	}

	return pointers(list), nil
}

// leaving lists the services that shall have no process.
func (ctrl *ServiceController) leaving(ctx context.Context, r controller.Reader) ([]resource.Pointer, error) {
	off, err := powerOff(ctx, r)
	if err != nil {
		return nil, err
	}

	list, err := safe.ReaderListAll[*resources.Service](ctx, r)
	if err != nil {
		return nil, err
	}

	var leaving []resource.Pointer

	for svc := range list.All() {
		if off || svc.Metadata().Phase() == resource.PhaseTearingDown {
			leaving = append(leaving, svc.Metadata())
		}
	}

	return leaving, nil
}

// powerOff tells whether the host program wants everything to stop. Without a word from it, the machine runs.
func powerOff(ctx context.Context, r controller.Reader) (bool, error) {
	power, err := found(safe.ReaderGetByID[*resources.PowerState](ctx, r, resources.TheMachine))
	if err != nil || power == nil {
		return false, err
	}

	return power.TypedSpec().Off, nil
}

// Reconcile implements [controller.QController].
func (ctrl *ServiceController) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	svc, err := found(safe.ReaderGetByID[*resources.Service](ctx, r, ptr.ID()))
	if err != nil {
		return err
	}

	if svc == nil {
		// There is nothing to restart either.
		return ctrl.dismissRequest(ctx, r, ptr.ID())
	}

	off, err := powerOff(ctx, r)
	if err != nil {
		return err
	}

	if off || svc.Metadata().Phase() == resource.PhaseTearingDown {
		return ctrl.stop(ctx, logger, r, svc)
	}

	return ctrl.run(ctx, logger, r, svc)
}

// stop takes the process of a service away, when its turn has come.
func (ctrl *ServiceController) stop(ctx context.Context, logger *zap.Logger, r controller.QRuntime, svc *resources.Service) error {
	id := svc.Metadata().ID()

	dependents, err := safe.ReaderListAll[*resources.Process](ctx, r, needing(id))
	if err != nil {
		return err
	}

	if dependents.Len() > 0 {
		logger.Debug("service waits for its dependents to stop", zap.String("service", id), zap.Int("dependents", dependents.Len()))

		return nil // each of them wakes the service when it has gone
	}

	gone, err := ctrl.removeProcess(ctx, r, id)
	if err != nil || !gone {
		return err
	}

	if err := ctrl.dismissRequest(ctx, r, id); err != nil {
		return err
	}

	// Once the finalizer is off, the service may be gone at any time.
	if svc.Metadata().Phase() == resource.PhaseTearingDown && svc.Metadata().Finalizers().Has(ctrl.Name()) {
		return r.RemoveFinalizer(ctx, svc.Metadata(), ctrl.Name())
	}

	return nil
}

// removeProcess tears the process of a service down and destroys it when nobody holds it. It tells whether it is gone;
// if not, it wakes the service when that changes.
func (ctrl *ServiceController) removeProcess(ctx context.Context, r controller.QRuntime, id resource.ID) (bool, error) {
	md := resources.NewProcess(id).Metadata()

	ready, err := r.Teardown(ctx, md)

	switch {
	case state.IsNotFoundError(err):
		return true, nil
	case err != nil:
		return false, err
	case !ready:
		return false, nil
	}

	return true, r.Destroy(ctx, md)
}

// run writes the process of a service.
func (ctrl *ServiceController) run(ctx context.Context, logger *zap.Logger, r controller.QRuntime, svc *resources.Service) error {
	id, md := svc.Metadata().ID(), svc.Metadata()

	if !md.Finalizers().Has(ctrl.Name()) {
		if err := r.AddFinalizer(ctx, md, ctrl.Name()); err != nil {
			return err
		}
	}

	old, err := found(safe.ReaderGetByID[*resources.Process](ctx, r, id))
	if err != nil {
		return err
	}

	if old != nil && old.Metadata().Phase() == resource.PhaseTearingDown {
		// The service is wanted again while its last process stops.
		gone, err := ctrl.removeProcess(ctx, r, id)
		if err != nil || !gone {
			return err
		}

		old = nil
	}

	spec, complete, err := ctrl.fillIn(ctx, r, *svc.TypedSpec())
	if err != nil || !complete {
		return err
	}

	request, err := found(safe.ReaderGetByID[*resources.RestartRequest](ctx, r, id))
	if err != nil {
		return err
	}

	if request != nil && request.Metadata().Phase() == resource.PhaseTearingDown {
		request = nil // it was met before
	}

	switch {
	case request != nil:
		// The time of the request tells it from the next one; met twice, it restarts once.
		spec.Attempt = request.Metadata().Created().UTC().Format(time.RFC3339Nano)
	case old != nil:
		spec.Attempt = old.TypedSpec().Attempt
	}

	if old != nil && len(old.TypedSpec().WaitingFor) == 0 && old.TypedSpec().Revision == spec.Revision {
		spec.WaitingFor = nil // it was let go before
	}

	if err := safe.WriterModify(ctx, r, resources.NewProcess(id), func(process *resources.Process) error {
		*process.TypedSpec() = spec
		*process.Metadata().Labels() = *md.Labels()

		return nil
	}); err != nil {
		return err
	}

	if request == nil {
		return nil
	}

	logger.Info("restart requested", zap.String("service", id), zap.String("reason", request.TypedSpec().Reason))

	return ctrl.dismissRequest(ctx, r, id)
}

// fillIn makes a process of a service. It is not complete when an address is missing, which wakes the service when it
// comes.
func (ctrl *ServiceController) fillIn(
	ctx context.Context, r controller.Reader, svc resources.ServiceSpec,
) (spec resources.ProcessSpec, complete bool, err error) {
	env := maps.Clone(svc.Env)
	if env == nil {
		env = make(map[string]string)
	}

	env[document.VarSelf], env[document.VarRoot], env[document.VarName] = ctrl.Self, ctrl.Root, svc.Name

	spec = resources.ProcessSpec{
		Revision: svc.Revision(),
		OneShot:  svc.Kind == document.OneShot,
		Restart:  svc.Restart,
		Stop:     svc.Stop,
		Health:   svc.Health,
	}

	if svc.Port != 0 {
		endpoint, err := found(safe.ReaderGetByID[*resources.Endpoint](ctx, r, svc.Name))
		if err != nil || endpoint == nil {
			return spec, false, err
		}

		env[document.VarPort], env[document.VarAddress] = fmt.Sprint(endpoint.TypedSpec().Port), endpoint.TypedSpec().Address

		if svc.Health.Path != "" {
			spec.HealthURL = "http://" + endpoint.TypedSpec().Address + svc.Health.Path
		}
	}

	for _, need := range svc.Needs {
		endpoint, err := found(safe.ReaderGetByID[*resources.Endpoint](ctx, r, need))
		if err != nil {
			return spec, false, err
		}

		if endpoint != nil {
			env[document.AddressVariable(need)] = endpoint.TypedSpec().Address
		}

		ready, err := isReady(ctx, r, need)
		if err != nil {
			return spec, false, err
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

	return spec, true, nil
}

// isReady tells whether a service is ready as it is meant to be now: what its status says of a time before it was
// changed does not count.
func isReady(ctx context.Context, r controller.Reader, id resource.ID) (bool, error) {
	status, err := found(safe.ReaderGetByID[*resources.ServiceStatus](ctx, r, id))
	if err != nil || status == nil || !status.TypedSpec().Ready {
		return false, err
	}

	svc, err := found(safe.ReaderGetByID[*resources.Service](ctx, r, id))
	if err != nil || svc == nil {
		return false, err
	}

	return status.TypedSpec().Revision == svc.TypedSpec().Revision(), nil
}

// dismissRequest tears down the request to restart a service, if there is one. It belongs to nobody, and the destroy
// controller does the rest.
func (ctrl *ServiceController) dismissRequest(ctx context.Context, r controller.QRuntime, id resource.ID) error {
	_, err := r.Teardown(ctx, resources.NewRestartRequest(id).Metadata(), controller.WithOwner(""))
	if state.IsNotFoundError(err) {
		return nil
	}

	return err
}
