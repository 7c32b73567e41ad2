package app

import (
	"bytes"
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/dependency/svg"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
)

// formatSVG is the format that package render leaves to package svg.
const formatSVG = "svg"

// GraphFormats lists the formats that [Graph] knows, the default one first.
func GraphFormats() []string {
	return []string{string(render.FormatMermaid), string(render.FormatDOT), formatSVG, string(render.FormatJSON)}
}

// Graph writes down the graph of the appliance's controllers without running them: they are registered with an engine
// over an empty state, and forgotten again.
func Graph(ctx context.Context, format string) ([]byte, error) {
	engine, err := newEngine(newState(), zap.NewNop())
	if err != nil {
		return nil, err
	}

	if err := controllers.Register(engine, controllers.World{}); err != nil {
		return nil, err
	}

	graph, err := engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	return drawGraph(ctx, graph, format)
}

func drawGraph(ctx context.Context, graph *controller.DependencyGraph, format string) ([]byte, error) {
	var (
		out  bytes.Buffer
		opts = []render.Option{
			render.WithTitle("Controllers of the appliance"),
			render.WithFindings(analysis.Analyze(graph)),
		}
	)

	if format == formatSVG {
		err := svg.Render(ctx, &out, graph, opts...)

		return out.Bytes(), err
	}

	f, err := render.ParseFormat(format)
	if err != nil {
		return nil, err
	}

	if err := render.Write(&out, f, graph, opts...); err != nil {
		return nil, err
	}

	return out.Bytes(), nil
}
