package apply_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-run/switchyard/apply"
)

const keyType = "Keys.apply.test"

type keyExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (keyExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: keyType, DefaultNamespace: "shop", Sensitivity: meta.Sensitive}
}

// What is wrong with a sensitive resource is told without what is in it.
func TestFaultsOfSensitiveTypesTellNoValues(t *testing.T) {
	for _, spec := range []string{"{size: hunter2}", "{parts: hunter2}", "{inner: {on: hunter2}}", "hunter2", "[hunter2]", "{size: hunter2, size: hunter2}"} {
		report := newWorld(t).send("metadata: {type: " + keyType + ", id: a}\nspec: " + spec + "\n")
		assert.Equal(t, http.StatusBadRequest, report.Status, spec)
		require.NotEmpty(t, report.Faults, spec)
		assert.NotContains(t, report.String(), "hunter2", spec)
	}
}

// Who may not write a resource can not find out by trying what it is.
func TestWhoMayNotWriteHearsNothing(t *testing.T) {
	w := newWorld(t)
	w.handler = apply.New(apply.Config{State: w.state, Allow: func(context.Context, state.Access) error {
		return status.Error(codes.PermissionDenied, "not here")
	}})

	require.NoError(t, w.state.Create(t.Context(), newWidget("a", 7)))
	require.NoError(t, w.state.Create(t.Context(), newWidget("owned", 7), state.WithCreateOwner("Maker")))

	_, err := w.state.Teardown(t.Context(), newWidget("owned", 7).Metadata(), state.WithTeardownOwner("Maker"))
	require.NoError(t, err)

	for name, text := range map[string]string{
		"the same":    "metadata: {type: Widgets.apply.test, id: a}\nspec: {size: 7}\n",
		"another":     "metadata: {type: Widgets.apply.test, id: a}\nspec: {size: 8}\n",
		"a version":   "metadata: {type: Widgets.apply.test, id: a, version: 9}\nspec: {size: 8}\n",
		"of somebody": "metadata: {type: Widgets.apply.test, id: owned}\nspec: {size: 7}\n",
		"none":        "metadata: {type: Widgets.apply.test, id: b, version: 9}\nspec: {size: 7}\n",
		"held":        "metadata: {type: Widgets.apply.test, id: b, finalizers: [x]}\nspec: {size: 7}\n",
	} {
		report := w.send(text)
		require.Len(t, report.Results, 1, name)

		report.Results[0].Resource.ID = resource.ID("")
		assert.Equal(t, http.StatusForbidden, report.Status, name)
		assert.Equal(t, apply.Result{Document: 1, Resource: report.Results[0].Resource, Outcome: apply.Refused, Reason: "not here"}, report.Results[0], name)
	}
}
