package controllers

import (
	"strings"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// readiness is nil if others may rely on a service, and else what it waits for, by what its process and its health
// checks say. Both may be nil.
func readiness(process resources.ProcessSpec, known *resources.ProcessStatus, health *resources.HealthStatus) error {
	if known == nil {
		return operator.Wait("Pending", operator.Message("its process is not known yet"))
	}

	status := known.TypedSpec()

	switch {
	case status.State == string(supervise.Stopping):
		return operator.Wait("Stopping", operator.Message("its process has not ended yet"))
	case process.Revision != status.Revision:
		return operator.Wait("Updating", operator.Message("the change is on its way to the process"))
	case status.State == string(supervise.Done):
		return nil
	case status.State == string(supervise.Waiting):
		return operator.Wait("Failed", operator.Message("%s", status.Message))
	case status.State != string(supervise.Running) && len(process.WaitingFor) > 0:
		return operator.Wait("Waiting", operator.Message("needs %s", strings.Join(process.WaitingFor, ", ")))
	case status.State != string(supervise.Running):
		return operator.Wait("Pending", operator.Message("has not been started yet"))
	case process.OneShot:
		return operator.Wait("Working", operator.Message("has not ended yet"))
	case process.HealthURL == "" && !status.Settled:
		return operator.Wait("Starting", operator.Message("has only just been started"))
	case process.HealthURL == "":
		return nil
	case health == nil || health.TypedSpec().Instance != status.Instance:
		return operator.Wait("Starting", operator.Message("has not been checked yet"))
	}

	switch message := operator.Message("%s", health.TypedSpec().Message); health.TypedSpec().Verdict {
	case resources.Passing, resources.Doubtful: // one missed check makes nobody stop relying on the service
		return nil
	case resources.Failing:
		return operator.Wait("Failing", message)
	default:
		return operator.Wait("Starting", message)
	}
}
