package controllers

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/gen/xerrors"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// RenderController fills in templates: one template, one file, again whenever the template or a fact changes. When a
// template goes, its file goes first, and with it what lies on disk.
type RenderController = qtransform.QController[*resources.Template, *resources.File]

// NewRenderController returns the controller.
func NewRenderController() *RenderController {
	return qtransform.NewQController(
		qtransform.Settings[*resources.Template, *resources.File]{
			Name: "RenderController",
			MapMetadataFunc: func(in *resources.Template) *resources.File {
				return resources.NewFile(in.Metadata().ID())
			},
			UnmapMetadataFunc: func(out *resources.File) *resources.Template {
				return resources.NewTemplate(out.Metadata().ID())
			},
			TransformFunc: render,
		},
		qtransform.WithExtraMappedInput[*resources.Facts](everyTemplate),
		// Other files are made by other controllers.
		qtransform.WithOutputKind(controller.OutputShared),
	)
}

func render(ctx context.Context, r controller.Reader, _ *zap.Logger, in *resources.Template, out *resources.File) error {
	facts, err := found(safe.ReaderGetByID[*resources.Facts](ctx, r, resources.TheMachine))
	if err != nil {
		return err
	}

	if facts == nil {
		// The facts wake the controller when they come; until then there is nothing to retry.
		return xerrors.NewTagged[qtransform.SkipReconcileTag](errors.New("the facts are not known yet"))
	}

	content, err := document.Render(in.TypedSpec().Content, document.Facts(*facts.TypedSpec()))
	if err != nil {
		return fmt.Errorf("%s cannot be rendered: %w", in.Metadata().ID(), err)
	}

	out.TypedSpec().Set(string(content), in.TypedSpec().Mode)
	out.TypedSpec().Revision = templateRevision(document.File(*in.TypedSpec()), facts.TypedSpec().Hostname, facts.TypedSpec().FQDN)

	return nil
}

// templateRevision identifies all that the document says about a template: what is filled in, too.
func templateRevision(file document.File, hostname, fqdn string) string {
	return document.Digest(fmt.Append(nil, file.Revision(), " ", hostname, " ", fqdn))
}

// everyTemplate maps a change of the facts to all templates, as any of them may speak of it.
func everyTemplate(
	ctx context.Context, _ *zap.Logger, r controller.QRuntime, _ controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	list, err := safe.ReaderListAll[*resources.Template](ctx, r)
	if err != nil {
		return nil, err
	}

	return pointers(list), nil
}
