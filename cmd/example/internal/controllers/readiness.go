package controllers

import (
	"context"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// ServiceStatusController sums up each service from what its process, its health checks and its needs say.
type ServiceStatusController = qtransform.QController[*resources.Service, *resources.ServiceStatus]

// NewServiceStatusController returns the controller.
func NewServiceStatusController() *ServiceStatusController {
	sameID := qtransform.MapperSameID[*resources.Service]()

	return qtransform.NewQController(
		qtransform.Settings[*resources.Service, *resources.ServiceStatus]{
			Name: "ServiceStatusController",
			MapMetadataFunc: func(in *resources.Service) *resources.ServiceStatus {
				return resources.NewServiceStatus(in.Metadata().ID())
			},
			UnmapMetadataFunc: func(out *resources.ServiceStatus) *resources.Service {
				return resources.NewService(out.Metadata().ID())
			},
			TransformFunc: sumUpService,
		},
		qtransform.WithExtraMappedInput[*resources.Endpoint](sameID),
		qtransform.WithExtraMappedInput[*resources.Process](sameID),
		qtransform.WithExtraMappedInput[*resources.ProcessStatus](sameID),
		qtransform.WithExtraMappedInput[*resources.HealthStatus](sameID),
		// A service that stops has a status until it has stopped.
		qtransform.WithIgnoreTeardownWhile(serviceController),
	)
}

// parts is what is known of one service. Each may be nil.
type parts struct {
	endpoint *resources.Endpoint
	process  *resources.Process
	status   *resources.ProcessStatus
	health   *resources.HealthStatus
}

func sumUpService(
	ctx context.Context, r controller.Reader, logger *zap.Logger, in *resources.Service, out *resources.ServiceStatus,
) (err error) {
	var p parts

	id := in.Metadata().ID()

	if p.endpoint, err = found(safe.ReaderGetByID[*resources.Endpoint](ctx, r, id)); err != nil {
		return err
	}

	if p.process, err = found(safe.ReaderGetByID[*resources.Process](ctx, r, id)); err != nil {
		return err
	}

	if p.status, err = found(safe.ReaderGetByID[*resources.ProcessStatus](ctx, r, id)); err != nil {
		return err
	}

	if p.health, err = found(safe.ReaderGetByID[*resources.HealthStatus](ctx, r, id)); err != nil {
		return err
	}

	before := *out.TypedSpec()
	now := p.sumUp(*in.TypedSpec())

	if p.process == nil && (before.State == "stopping" || before.State == "stopped") {
		now.State = "stopped"
	}

	if *out.TypedSpec() = now; now.State != before.State {
		logger.Info("service is "+now.State, zap.String("service", id), zap.String("because", now.Message))
	}

	return nil
}

// sumUp is the status of a service, from what is known of it.
func (p parts) sumUp(svc resources.ServiceSpec) resources.ServiceStatusSpec {
	sum := resources.ServiceStatusSpec{Revision: svc.Revision(), State: "pending"}

	if p.endpoint != nil {
		sum.Address = p.endpoint.TypedSpec().Address
	}

	if p.process != nil && p.process.Metadata().Phase() == resource.PhaseTearingDown {
		sum.State = "stopping"
	}

	if p.process == nil || p.status == nil {
		return sum
	}

	process, status := p.process.TypedSpec(), p.status.TypedSpec()
	sum.PID, sum.Restarts = status.PID, status.Restarts

	switch {
	case sum.State == "stopping" || status.State == string(supervise.Stopping):
		sum.State = "stopping"
	case process.Revision != sum.Revision || status.Revision != sum.Revision:
		sum.State, sum.Message = "updating", "the change is on its way to the process"
	case status.State == string(supervise.Done):
		sum.State, sum.Ready = "done", true
	case status.State == string(supervise.Waiting):
		sum.State, sum.Message = "failed", status.Message
	case status.State != string(supervise.Running) && len(process.WaitingFor) > 0:
		sum.State, sum.Message = "waiting", "needs "+strings.Join(process.WaitingFor, ", ")
	case status.State != string(supervise.Running):
	case process.OneShot:
		sum.State, sum.Message = "working", "has not ended yet"
	case process.HealthURL == "" && !status.Settled:
		sum.State, sum.Message = "starting", "has only just been started"
	case process.HealthURL == "":
		sum.State, sum.Ready = "running", true
	case p.health == nil || p.health.TypedSpec().Instance != status.Instance:
		sum.State, sum.Message = "starting", "has not been checked yet"
	default:
		p.judge(&sum)
	}

	return sum
}

// judge takes the word of the health checks.
func (p parts) judge(sum *resources.ServiceStatusSpec) {
	health := p.health.TypedSpec()
	sum.Message = health.Message

	switch health.Verdict {
	case resources.Passing:
		sum.State, sum.Ready = "running", true
	case resources.Doubtful:
		// One missed check makes nobody stop relying on the service.
		sum.State, sum.Ready = "doubtful", true
	case resources.Failing:
		sum.State = "failing"
	default:
		sum.State = "starting"
	}
}
