package controllers

import (
	"context"
	"errors"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/backoff"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// ProcessController hands the wanted processes to the supervisor and brings back what became of them. It is the only
// controller that touches processes. A process resource goes only after the process: the controller holds a finalizer
// on it until the supervisor has forgotten the unit.
type ProcessController struct {
	Supervisor *supervise.Supervisor
	// Wake carries the supervisor's wakeups.
	Wake *Wake
}

// Wake connects a source of wakeups, which exists first, with a controller, which comes and goes. The zero value is
// connected to nobody.
type Wake struct {
	// mu guards call.
	mu   sync.Mutex
	call func()
}

// Up wakes whoever is connected. It does not block.
func (w *Wake) Up() {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.call != nil {
		w.call()
	}
}

// connect makes Up call a function, or nothing for nil.
func (w *Wake) connect(call func()) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.call = call
}

// Name implements [controller.Controller].
func (ctrl *ProcessController) Name() string { return "ProcessController" }

// Inputs implements [controller.Controller].
func (ctrl *ProcessController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.Process](controller.InputStrong),
		safe.Input[*resources.HealthStatus](controller.InputWeak),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *ProcessController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.ProcessStatusType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *ProcessController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	ctrl.Wake.connect(r.QueueReconcile)
	defer ctrl.Wake.connect(nil)

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		list, err := safe.ReaderListAll[*resources.Process](ctx, r)
		if err != nil {
			return err
		}

		// Trouble with one process keeps no other one waiting.
		var failures error

		for process := range list.All() {
			if process.Metadata().Phase() == resource.PhaseTearingDown {
				failures = errors.Join(failures, ctrl.remove(ctx, r, process))
			} else {
				failures = errors.Join(failures, ctrl.keep(ctx, r, logger, process))
			}
		}

		if failures != nil {
			return failures
		}

		r.ResetRestartBackoff()
	}
}

// keep has a process run, and reports on it.
func (ctrl *ProcessController) keep(ctx context.Context, r controller.Runtime, logger *zap.Logger, process *resources.Process) error {
	id, spec := process.Metadata().ID(), process.TypedSpec()

	// The finalizer comes first: from now on there may be a process.
	if !process.Metadata().Finalizers().Has(ctrl.Name()) {
		if err := r.AddFinalizer(ctx, process.Metadata(), ctrl.Name()); err != nil {
			return err
		}
	}

	if err := setUnit(ctx, ctrl.Supervisor, id, supervise.Definition{
		Revision: spec.Revision,
		Command:  spec.Command,
		Env:      spec.Env,
		Attempt:  spec.Attempt,
		Hold:     len(spec.WaitingFor) > 0,
		OneShot:  spec.OneShot,
		Restart:  backoff.Policy{Base: spec.Restart.Delay, Factor: 2, Max: spec.Restart.Max},
		Stop:     spec.Stop,
	}); err != nil {
		return err
	}

	health, err := found(safe.ReaderGetByID[*resources.HealthStatus](ctx, r, id))
	if err != nil {
		return err
	}

	status, err := unitStatus(ctx, ctrl.Supervisor, id)
	if err != nil || status == nil {
		return err // it is being removed; the supervisor wakes the controller when that is done
	}

	if health != nil && health.TypedSpec().Verdict == resources.Failing && health.TypedSpec().Instance == status.Instance &&
		status.State == supervise.Running {
		logger.Warn("service does not pass its health checks and is restarted",
			zap.String("service", id), zap.String("last", health.TypedSpec().Message))

		why := "did not pass its health checks: " + health.TypedSpec().Message

		if err := restartUnit(ctx, ctrl.Supervisor, id, status.Instance, why); err != nil {
			return err
		}
	}

	return safe.WriterModify(ctx, r, resources.NewProcessStatus(id), func(st *resources.ProcessStatus) error {
		*st.TypedSpec() = resources.ProcessStatusSpec{
			Revision: status.Revision,
			State:    string(status.State),
			Instance: status.Instance,
			PID:      status.PID,
			Restarts: status.Restarts,
			Started:  status.Started,
			Settled:  status.Settled,
			Message:  status.Message,
		}

		return nil
	})
}

// remove has a process stopped, then takes away its status and the finalizer that kept the resource.
func (ctrl *ProcessController) remove(ctx context.Context, r controller.Runtime, process *resources.Process) error {
	id := process.Metadata().ID()

	if !process.Metadata().Finalizers().Has(ctrl.Name()) {
		return nil
	}

	if err := removeUnit(ctx, ctrl.Supervisor, id); err != nil {
		return err
	}

	status, err := unitStatus(ctx, ctrl.Supervisor, id)
	if err != nil {
		return err
	}

	if status != nil {
		// The supervisor wakes the controller when the process has gone.
		return safe.WriterModify(ctx, r, resources.NewProcessStatus(id), func(st *resources.ProcessStatus) error {
			st.TypedSpec().State, st.TypedSpec().PID = string(supervise.Stopping), status.PID

			return nil
		})
	}

	if err := r.Destroy(ctx, resources.NewProcessStatus(id).Metadata()); err != nil && !state.IsNotFoundError(err) {
		return err
	}

	return r.RemoveFinalizer(ctx, process.Metadata(), ctrl.Name())
}
