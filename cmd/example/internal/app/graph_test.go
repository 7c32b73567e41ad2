package app_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/cmd/example/internal/app"
	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/render"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// TestWhatTheControllersDependOn holds the declarations of the controllers against what they are meant to be: nobody
// reads what nobody writes, apart from the wish of the host program, and nobody writes what nobody reads, apart from
// the summary for people.
func TestWhatTheControllersDependOn(t *testing.T) {
	text, err := app.Graph(t.Context(), "json")
	require.NoError(t, err)

	var graph render.Graph

	require.NoError(t, json.Unmarshal(text, &graph))

	controllers := 0

	for _, node := range graph.Nodes {
		if node.Kind == render.Controller {
			controllers++
		}
	}

	assert.Equal(t, 18, controllers)

	require.NotNil(t, graph.Findings)
	assert.Equal(t, []analysis.Unproduced{{
		Namespace: "config", Type: "PowerStates.appliance.switchyard.run",
		Readers: []string{"MachineStatusController", "ServiceController"},
	}}, graph.Findings.Unproduced)
	assert.Equal(t, []analysis.Unread{{
		Type: "MachineStatuses.appliance.switchyard.run", Writers: []string{"MachineStatusController"},
	}}, graph.Findings.Unread)
}

func TestEveryFormatIsDrawn(t *testing.T) {
	for _, format := range app.GraphFormats() {
		text, err := app.Graph(t.Context(), format)
		require.NoError(t, err, format)
		assert.NotEmpty(t, text, format)

		again, err := app.Graph(t.Context(), format)
		require.NoError(t, err, format)
		assert.Equal(t, string(text), string(again), "%s is the same each time", format)
	}

	_, err := app.Graph(t.Context(), "png")
	assert.Error(t, err)
}
