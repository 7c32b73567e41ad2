package controllers

import (
	"context"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// MachineStatusController holds the machine against the document in force and lists what is missing. It starts from
// the document, not from what the other controllers have made of it so far: what they have not made yet is missing.
type MachineStatusController struct{}

// Name implements [controller.Controller].
func (ctrl *MachineStatusController) Name() string { return "MachineStatusController" }

// Inputs implements [controller.Controller].
func (ctrl *MachineStatusController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.PowerState](controller.InputWeak),
		safe.Input[*resources.Document](controller.InputWeak),
		safe.Input[*resources.ConfigStatus](controller.InputWeak),
		safe.Input[*resources.File](controller.InputWeak),
		safe.Input[*resources.FileStatus](controller.InputWeak),
		safe.Input[*resources.Service](controller.InputWeak),
		safe.Input[*resources.ServiceStatus](controller.InputWeak),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *MachineStatusController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.MachineStatusType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *MachineStatusController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		now, err := ctrl.sumUp(ctx, r)
		if err != nil {
			return err
		}

		var before resources.MachineStatusSpec

		if err := safe.WriterModify(ctx, r, resources.NewMachineStatus(), func(status *resources.MachineStatus) error {
			before = *status.TypedSpec()
			*status.TypedSpec() = now

			return nil
		}); err != nil {
			return err
		}

		switch {
		case now.Ready && (!before.Ready || now.Generation != before.Generation):
			logger.Info("the machine is ready", zap.Int("generation", now.Generation))
		case !now.Ready && before.Ready:
			logger.Info("the machine is not ready", zap.Strings("missing", now.Missing))
		}

		r.ResetRestartBackoff()
	}
}

func (ctrl *MachineStatusController) sumUp(ctx context.Context, r controller.Reader) (resources.MachineStatusSpec, error) {
	var now resources.MachineStatusSpec

	off, err := powerOff(ctx, r)
	if err != nil {
		return now, err
	}

	if off {
		now.Missing = append(now.Missing, "machine: is being stopped")
	}

	doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
	if err != nil {
		return now, err
	}

	var missing []string

	if doc == nil {
		missing, err = noDocument(ctx, r)
	} else {
		now.Generation = doc.TypedSpec().Generation
		missing, err = missingParts(ctx, r, doc.TypedSpec().Machine)
	}

	now.Missing = append(now.Missing, missing...)
	now.Ready = len(now.Missing) == 0

	slices.Sort(now.Missing)

	return now, err
}

// noDocument tells why no document is in force.
func noDocument(ctx context.Context, r controller.Reader) ([]string, error) {
	config, err := found(safe.ReaderGetByID[*resources.ConfigStatus](ctx, r, resources.TheMachine))
	if err != nil || config == nil || !config.TypedSpec().Refused {
		return []string{"document: has not been read yet"}, err
	}

	var missing []string

	for _, p := range config.TypedSpec().Problems {
		missing = append(missing, "document: "+p.String())
	}

	return missing, nil
}

// missingParts lists the parts of a machine that are not as the document says.
func missingParts(ctx context.Context, r controller.Reader, m document.Machine) ([]string, error) {
	files, err := missingFiles(ctx, r, m)
	if err != nil {
		return nil, err
	}

	services, err := missingServices(ctx, r, m)

	return append(files, services...), err
}

func missingFiles(ctx context.Context, r controller.Reader, m document.Machine) ([]string, error) {
	var missing []string

	revisions := fileRevisions(m)

	for _, path := range slices.Sorted(maps.Keys(revisions)) {
		reason, err := missingFile(ctx, r, path, revisions[path])
		if err != nil {
			return nil, err
		}

		if reason != "" {
			missing = append(missing, "file "+path+": "+reason)
		}
	}

	list, err := safe.ReaderListAll[*resources.File](ctx, r)
	if err != nil {
		return nil, err
	}

	for file := range list.All() {
		if _, wanted := revisions[file.Metadata().ID()]; !wanted {
			missing = append(missing, "file "+file.Metadata().ID()+": has left the document and is being removed")
		}
	}

	return missing, nil
}

func missingServices(ctx context.Context, r controller.Reader, m document.Machine) ([]string, error) {
	var missing []string

	wanted := make(map[string]bool)

	for _, service := range m.Services {
		wanted[service.Name] = true

		reason, err := missingService(ctx, r, service)
		if err != nil {
			return nil, err
		}

		if reason != "" {
			missing = append(missing, "service "+service.Name+": "+reason)
		}
	}

	list, err := safe.ReaderListAll[*resources.Service](ctx, r)
	if err != nil {
		return nil, err
	}

	for svc := range list.All() {
		if !wanted[svc.Metadata().ID()] {
			missing = append(missing, "service "+svc.Metadata().ID()+": has left the document and is being stopped")
		}
	}

	return missing, nil
}

func missingFile(ctx context.Context, r controller.Reader, path, revision string) (string, error) {
	file, err := found(safe.ReaderGetByID[*resources.File](ctx, r, path))
	if err != nil {
		return "", err
	}

	if file == nil || file.TypedSpec().Revision != revision {
		return "has not been rendered yet", nil
	}

	status, err := found(safe.ReaderGetByID[*resources.FileStatus](ctx, r, path))

	return missingFrom(operator.Joined(file, status), "has not been written yet"), err
}

func missingService(ctx context.Context, r controller.Reader, service document.Service) (string, error) {
	svc, err := found(safe.ReaderGetByID[*resources.Service](ctx, r, service.Name))
	if err != nil {
		return "", err
	}

	if svc == nil || svc.TypedSpec().Revision() != service.Revision() {
		return "pending", nil
	}

	status, err := found(safe.ReaderGetByID[*resources.ServiceStatus](ctx, r, service.Name))

	return missingFrom(operator.Joined(svc, status), "pending"), err
}

// missingFrom is why something is not ready as it is meant to be now, and empty if it is.
func missingFrom[P generic.ResourceWithRD, S typed.DeepCopyable[S]](view operator.View[P, S], unknown string) string {
	ready, _ := view.Status.Conditions.Get(operator.Ready)

	switch {
	case view.Stale:
		return unknown
	case ready.Status == operator.True:
		return ""
	default:
		return ready.Reason + ", " + ready.Message
	}
}

// powerOff tells whether the host program wants everything to stop. Without a word from it, the machine runs.
func powerOff(ctx context.Context, r controller.Reader) (bool, error) {
	power, err := found(safe.ReaderGetByID[*resources.PowerState](ctx, r, resources.TheMachine))
	if err != nil || power == nil {
		return false, err
	}

	return power.TypedSpec().Off, nil
}
