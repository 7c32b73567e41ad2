package render_test

import (
	"testing"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

// Whatever is in the names: each declaration is in the model, and the model is in each of the formats, which is read as it was meant.
func FuzzFormats(f *testing.F) {
	f.Add("\x00|A||T||\x02|A|n|T|id", "title")

	for _, name := range graphtest.Hostile() {
		f.Add("\x01|"+name+"||"+name+"||\x06|"+name+"|"+name+"|"+name+"|"+name, name)
	}

	f.Fuzz(func(t *testing.T, edges, title string) {
		g := graphtest.FromBytes(edges)

		checkMermaid(t, g, render.WithTitle(title))
		checkDOT(t, g, render.WithTitle(title))

		checkModel(t, g)
		checkJSON(t, g, render.WithTitle(title), render.WithFindings(analysis.Analyze(g)))
	})
}
