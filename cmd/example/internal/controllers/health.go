package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// HealthController asks running processes, again and again, whether they are well. It keeps no timers: after each
// check it asks the engine to have the item back after the interval.
type HealthController struct {
	// Clock is what the grace time of a fresh process goes by.
	Clock clockwork.Clock
}

// eager is the longest pause between checks of a process that has not passed one yet.
const eager = 100 * time.Millisecond

// Name implements [controller.QController].
func (ctrl *HealthController) Name() string { return "HealthController" }

// Settings implements [controller.QController].
func (ctrl *HealthController) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			safe.Input[*resources.ProcessStatus](controller.InputQPrimary),
			safe.Input[*resources.Process](controller.InputQMapped),
		},
		Outputs: []controller.Output{{Type: resources.HealthStatusType, Kind: controller.OutputExclusive}},
		// A check may take as long as its timeout; a slow service should not keep the others waiting.
		Concurrency: optional.Some[uint](8),
	}
}

// MapInput implements [controller.QController].
func (ctrl *HealthController) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, in controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	return []resource.Pointer{resources.NewProcessStatus(in.ID()).Metadata()}, nil
}

// Reconcile implements [controller.QController].
func (ctrl *HealthController) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	status, err := found(safe.ReaderGetByID[*resources.ProcessStatus](ctx, r, ptr.ID()))
	if err != nil {
		return err
	}

	process, err := found(safe.ReaderGetByID[*resources.Process](ctx, r, ptr.ID()))
	if err != nil {
		return err
	}

	if status == nil || process == nil || process.TypedSpec().HealthURL == "" ||
		status.TypedSpec().State != string(supervise.Running) {
		err := r.Destroy(ctx, resources.NewHealthStatus(ptr.ID()).Metadata())
		if state.IsNotFoundError(err) {
			return nil
		}

		return err
	}

	spec := *process.TypedSpec()
	failure := recording.Do(ctx, "whether "+spec.HealthURL+" is well", func() error {
		return check(ctx, spec.HealthURL, spec.Health.Timeout)
	})

	if ctx.Err() != nil {
		return ctx.Err() // the engine stops; that says nothing about the service
	}

	var verdict resources.Verdict

	if err := safe.WriterModify(ctx, r, resources.NewHealthStatus(ptr.ID()), func(h *resources.HealthStatus) error {
		before := *h.TypedSpec()
		*h.TypedSpec() = ctrl.judge(ctx, before, *status.TypedSpec(), spec, failure)

		if verdict = h.TypedSpec().Verdict; verdict != before.Verdict {
			logger.Debug("verdict on the health of a service", zap.String("service", ptr.ID()),
				zap.String("verdict", string(verdict)), zap.String("because", h.TypedSpec().Message))
		}

		return nil
	}); err != nil {
		return err
	}

	interval := spec.Health.Interval
	if verdict == resources.Starting {
		interval = min(interval, eager)
	}

	return controller.NewRequeueInterval(interval)
}

// judge sums up what is known after one more check.
func (ctrl *HealthController) judge(
	ctx context.Context, before resources.HealthStatusSpec, status resources.ProcessStatusSpec, process resources.ProcessSpec, failure error,
) resources.HealthStatusSpec {
	now := resources.HealthStatusSpec{Instance: status.Instance}

	if failure == nil {
		now.Verdict = resources.Passing

		return now
	}

	fresh := true

	if before.Instance == status.Instance {
		now.Failures = before.Failures
		fresh = before.Verdict == "" || before.Verdict == resources.Starting
	}

	now.Failures = min(now.Failures+1, process.Health.Failures)
	now.Message = failure.Error()

	switch {
	case fresh && recording.Clock(ctx, ctrl.Clock).Since(status.Started) < process.Health.Grace:
		now.Verdict = resources.Starting
		now.Failures = 0
	case fresh || now.Failures >= process.Health.Failures:
		now.Verdict = resources.Failing
	default:
		now.Verdict = resources.Doubtful
	}

	return now
}

// client asks each time anew: a connection kept open would say little about a service that takes new ones.
var client = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// check returns nil if the service is well, else the reason.
func check(ctx context.Context, url string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %s", timeout))
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}

	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		// The method and the URL are known; what is left is why.
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}

		return err
	}
	defer response.Body.Close()

	if _, err := io.CopyN(io.Discard, response.Body, 4096); err != nil && !errors.Is(err, io.EOF) {
		return err
	}

	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("answered %s", response.Status)
	}

	return nil
}
