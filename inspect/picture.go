package inspect

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/dependency/svg"
)

// draw draws the graph. Drawing takes a processor for a while, so one is drawn at a time.
func (h *Handler) draw(ctx context.Context, out io.Writer, graph *controller.DependencyGraph, options []render.Option) error {
	select {
	case h.drawing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}

	defer func() { <-h.drawing }()

	err := svg.Render(ctx, out, graph, options...)
	if errors.Is(err, svg.ErrTooLarge) {
		return &problemError{problemOf(http.StatusUnprocessableEntity, "the graph is too large for a picture", "ask for another format, as dot or json")}
	}

	return err
}
