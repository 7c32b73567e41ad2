package controllers

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// TemplateController splits the document into one resource for each file that is a template. One document becomes
// many templates, so it is no transform.
type TemplateController struct{}

// Name implements [controller.Controller].
func (ctrl *TemplateController) Name() string { return "TemplateController" }

// Inputs implements [controller.Controller].
func (ctrl *TemplateController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.Document](controller.InputWeak),
		safe.Input[*resources.Template](controller.InputDestroyReady),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *TemplateController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.TemplateType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *TemplateController) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
		if err != nil {
			return err
		}

		var wanted []*resources.Template

		if doc != nil {
			for _, file := range templates(doc.TypedSpec().Machine) {
				t := resources.NewTemplate(file.Path)
				*t.TypedSpec() = resources.TemplateSpec(file)
				wanted = append(wanted, t)
			}
		}

		if err := fanOut(ctx, r, ctrl.Name(), wanted); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// templates lists the files of a machine that are templates: those it names, and the message of the day.
func templates(m document.Machine) []document.File {
	if m.MOTD == "" {
		return m.Files
	}

	return append([]document.File{{Path: document.PathMOTD, Mode: 0o644, Content: m.MOTD}}, m.Files...)
}
