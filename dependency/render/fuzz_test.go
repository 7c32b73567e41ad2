package render_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

func FuzzFormats(f *testing.F) {
	f.Add("\x00|A||T||\x02|A|n|T|id", "title")

	for _, name := range graphtest.Hostile() {
		f.Add("\x01|"+name+"||"+name+"||\x06|"+name+"|"+name+"|"+name+"|"+name, name)
	}

	f.Fuzz(func(t *testing.T, edges, title string) {
		g := graphtest.FromBytes(edges)

		checkMermaid(t, g, render.WithTitle(title))
		checkDOT(t, g, render.WithTitle(title))

		document := text(t, render.FormatJSON, g, render.WithTitle(title))
		again, err := json.MarshalIndent(decode(t, document), "", "  ")
		require.NoError(t, err)
		require.Equal(t, document, string(again)+"\n")
	})
}
