package controllers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// DocumentController brings the document from its file into the state, and keeps the last good one in force while the
// file holds a bad one. It has no inputs: its wakeups come from the file system.
type DocumentController struct {
	// Path is where the document lies.
	Path string
	// Clock is what the controller waits by for an editor to finish.
	Clock clockwork.Clock
}

// settle is how long the controller waits after a change, as editors truncate a file before they fill it.
const settle = 50 * time.Millisecond

// Name implements [controller.Controller].
func (ctrl *DocumentController) Name() string { return "DocumentController" }

// Inputs implements [controller.Controller].
func (ctrl *DocumentController) Inputs() []controller.Input { return nil }

// Outputs implements [controller.Controller].
func (ctrl *DocumentController) Outputs() []controller.Output {
	return []controller.Output{
		{Type: resources.DocumentType, Kind: controller.OutputExclusive},
		{Type: resources.ConfigStatusType, Kind: controller.OutputExclusive},
	}
}

// Run implements [controller.Controller].
func (ctrl *DocumentController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	watcher, err := watch(ctx, "the document", r.QueueReconcile, logger)
	if err != nil {
		return err
	}
	defer watcher.close()

	clock := recording.Clock(ctx, ctrl.Clock)

	for first := true; ; first = false {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if !first {
			select {
			case <-ctx.Done():
				return nil
			case <-clock.After(settle):
			}
		}

		// Watch before reading, so that a change after the reading is told.
		if err := watcher.places(ctx, ctrl.Path); err != nil {
			return err
		}

		if err := ctrl.reconcile(ctx, r, logger); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func (ctrl *DocumentController) reconcile(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	inForce, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
	if err != nil {
		return err
	}

	status := resources.ConfigStatusSpec{Path: ctrl.Path}

	if inForce != nil {
		status.Generation, status.Hash = inForce.TypedSpec().Generation, inForce.TypedSpec().Hash
	}

	text, err := recording.Ask(ctx, "for "+ctrl.Path, func() ([]byte, error) {
		return files.ReadPlain(ctrl.Path, document.SizeLimit+1)
	})
	if err != nil {
		status.Refused = true
		status.Problems = []document.Problem{{Message: fmt.Sprintf("the document cannot be read: %s", err)}}

		return ctrl.report(ctx, r, logger, status)
	}

	hash := document.Digest(text)
	if hash == status.Hash {
		return ctrl.report(ctx, r, logger, status)
	}

	machine, err := document.Parse(text)
	if refused := (*document.Error)(nil); errors.As(err, &refused) {
		status.Refused, status.RefusedHash, status.Problems = true, hash, refused.Problems

		return ctrl.report(ctx, r, logger, status)
	}

	status.Generation, status.Hash = status.Generation+1, hash

	if err := safe.WriterModify(ctx, r, resources.NewDocument(), func(doc *resources.Document) error {
		*doc.TypedSpec() = resources.DocumentSpec{Generation: status.Generation, Hash: hash, Machine: machine}

		return nil
	}); err != nil {
		return err
	}

	return ctrl.report(ctx, r, logger, status)
}

// report writes the status, and a log line when there is news.
func (ctrl *DocumentController) report(
	ctx context.Context, r controller.Runtime, logger *zap.Logger, status resources.ConfigStatusSpec,
) error {
	var before resources.ConfigStatusSpec

	if err := safe.WriterModify(ctx, r, resources.NewConfigStatus(), func(c *resources.ConfigStatus) error {
		before = *c.TypedSpec()
		*c.TypedSpec() = status

		return nil
	}); err != nil {
		return err
	}

	switch {
	case status.Refused && !slices.Equal(status.Problems, before.Problems):
		consequence := "the last good one stays in force"
		if status.Generation == 0 {
			consequence = "there is none in force yet"
		}

		logger.Warn("the document is refused; "+consequence,
			zap.Int("generation", status.Generation), zap.Int("problems", len(status.Problems)))

		for _, p := range status.Problems {
			logger.Warn(p.In(filepath.Base(ctrl.Path)))
		}
	case !status.Refused && (before.Refused || before.Generation != status.Generation):
		logger.Info("the document is in force",
			zap.Int("generation", status.Generation), zap.String("hash", status.Hash))
	}

	return nil
}
