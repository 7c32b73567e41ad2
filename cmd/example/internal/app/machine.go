package app

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// missing lists what keeps the machine from being ready.
func (p *plane) missing(ctx context.Context) ([]string, error) {
	status, err := safe.StateGetByID[*resources.MachineStatus](ctx, p.state, resources.TheMachine)

	switch {
	case state.IsNotFoundError(err):
		return []string{"machine: nothing is known yet"}, nil
	case err != nil:
		return nil, err
	default:
		return status.TypedSpec().Missing, nil
	}
}

// notes tells why a newer document is not in force.
func (p *plane) notes(ctx context.Context) ([]string, error) {
	status, err := safe.StateGetByID[*resources.ConfigStatus](ctx, p.state, resources.TheMachine)
	if state.IsNotFoundError(err) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	config := status.TypedSpec()
	if !config.Refused {
		return nil, nil
	}

	notes := []string{fmt.Sprintf("the document is refused, generation %d stays in force:", config.Generation)}

	for _, problem := range config.Problems {
		notes = append(notes, problem.In(config.Path))
	}

	return notes, nil
}

// health tells whether the engine runs, and what is wrong with it.
func (p *plane) health() (running bool, problems []string) {
	health := p.engine.Health()

	return health.Running, health.Problems()
}

// waitReady waits until the machine is ready. It gives up early when the document is refused, as nobody is there to
// correct it.
func waitReady(ctx context.Context, st state.State) error {
	_, err := st.WatchFor(ctx, resources.NewConfigStatus().Metadata(), state.WithEventTypes(state.Created, state.Updated),
		state.WithCondition(func(r resource.Resource) (bool, error) {
			config, ok := r.(*resources.ConfigStatus)
			if !ok {
				return false, fmt.Errorf("unexpected resource %s", r.Metadata())
			}

			if config.TypedSpec().Refused {
				return false, fmt.Errorf("the document is refused:\n%w",
					&document.Error{File: config.TypedSpec().Path, Problems: config.TypedSpec().Problems})
			}

			return true, nil
		}))
	if err != nil {
		return err
	}

	_, err = st.WatchFor(ctx, resources.NewMachineStatus().Metadata(), state.WithEventTypes(state.Created, state.Updated),
		state.WithCondition(func(r resource.Resource) (bool, error) {
			machine, ok := r.(*resources.MachineStatus)

			return ok && machine.TypedSpec().Ready, nil
		}))

	return err
}

// powerOff asks for all services to be stopped and waits until none has a process.
func powerOff(ctx context.Context, st state.State) error {
	if err := safe.StateModify(ctx, st, resources.NewPowerState(), func(power *resources.PowerState) error {
		power.TypedSpec().Off = true

		return nil
	}); err != nil {
		return err
	}

	processes, err := safe.StateListAll[*resources.Process](ctx, st)
	if err != nil {
		return err
	}

	for process := range processes.All() {
		if _, err := st.WatchFor(ctx, process.Metadata(), state.WithEventTypes(state.Destroyed)); err != nil {
			return err
		}
	}

	return nil
}

// NotReadyError is why a machine did not become ready in time.
type NotReadyError struct {
	// Cause is why waiting ended.
	Cause error
	// Missing lists what was missing then.
	Missing []string
}

// Error lists the reasons, one a line.
func (e *NotReadyError) Error() string {
	text := fmt.Sprintf("the machine is not ready: %s", e.Cause)

	for _, m := range e.Missing {
		text += "\n  " + m
	}

	return text
}

// Unwrap returns the cause.
func (e *NotReadyError) Unwrap() error { return e.Cause }

// once waits for the machine to be ready and tells what came of it.
func (p *plane) once(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, p.opts.Timeout, fmt.Errorf("-timeout %s is over", p.opts.Timeout))
	defer cancel()

	failure := waitReady(limited, p.state)
	if limited.Err() != nil {
		failure = context.Cause(limited)
	}

	if err := p.table(ctx); err != nil {
		return err
	}

	if failure == nil {
		fmt.Fprintln(p.opts.Out, "the machine is ready")

		return nil
	}

	if refused := (*document.Error)(nil); errors.As(failure, &refused) {
		return failure // everything that is missing is missing because of this
	}

	missing, err := p.missing(ctx)
	if err != nil {
		return errors.Join(failure, err)
	}

	return &NotReadyError{Cause: failure, Missing: missing}
}

// table lists all resources of the machine.
func (p *plane) table(ctx context.Context) error {
	table := tabwriter.NewWriter(p.opts.Out, 0, 0, 2, ' ', 0)

	fmt.Fprintln(table, "NAMESPACE\tTYPE\tID\tVERSION\tPHASE\tSUMMARY")

	for _, kind := range resources.All() {
		rd := kind.ResourceDefinition()

		list, err := p.state.List(ctx, resource.NewMetadata(rd.DefaultNamespace, rd.Type, "", resource.VersionUndefined))
		if err != nil {
			return err
		}

		for _, r := range list.Items {
			md := r.Metadata()

			summary := ""
			if s, ok := r.Spec().(fmt.Stringer); ok {
				summary = resources.Line(s.String())
			}

			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", md.Namespace(), md.Type(), md.ID(), md.Version(), md.Phase(), summary)
		}
	}

	return table.Flush()
}
