package kinds_test

import (
	"slices"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
)

func load(t *testing.T, specs ...meta.ResourceDefinitionSpec) *kinds.Kinds {
	t.Helper()

	st := state.WrapCore(namespaced.NewState(inmem.Build))

	for _, spec := range specs {
		definition, err := meta.NewResourceDefinition(spec)
		require.NoError(t, err)
		require.NoError(t, st.Create(t.Context(), definition))
	}

	all, err := kinds.Load(t.Context(), st)
	require.NoError(t, err)

	return all
}

func TestATypeHasManyNames(t *testing.T) {
	all := load(t,
		meta.ResourceDefinitionSpec{Type: "ServiceStatuses.example.org", DefaultNamespace: "machine", Aliases: []string{"svc"}},
		meta.ResourceDefinitionSpec{Type: "Passwords.example.org", Sensitivity: meta.Sensitive, PrintColumns: []meta.PrintColumn{{Name: "A", JSONPath: "{.a}"}}},
	)

	for _, name := range []string{
		"ServiceStatuses.example.org", "servicestatuses.example.org", "servicestatuses", "ServiceStatus", "servicestatus", "svc", "ss",
		"servicestatuses.example",
	} {
		kind, err := all.Find(name)
		require.NoError(t, err, name)
		assert.Equal(t, kinds.Kind{Type: "ServiceStatuses.example.org", Namespace: "machine"}, kind, name)
	}

	kind, err := all.Find("password")
	require.NoError(t, err)
	assert.Equal(t, "its type is sensitive", kind.Secret)
	assert.Empty(t, kind.Columns, "nothing of its spec is shown")
}

func TestANameOfSeveralTypes(t *testing.T) {
	all := load(t,
		meta.ResourceDefinitionSpec{Type: "Nodes.one.org"}, meta.ResourceDefinitionSpec{Type: "Nodes.two.org"},
		meta.ResourceDefinitionSpec{Type: "Links.two.org"},
	)

	_, err := all.Find("node")

	var ambiguous *kinds.AmbiguousError

	require.ErrorAs(t, err, &ambiguous)
	assert.EqualError(t, err, `"node" may be any of Nodes.one.org, Nodes.two.org: say which`)

	kind, err := all.Find("nodes.two.org")
	require.NoError(t, err)
	assert.Equal(t, "Nodes.two.org", kind.Type)

	assert.NotContains(t, all.Names(), "nodes")
	assert.Contains(t, all.Names(), "nodes.one")
	assert.Contains(t, all.Names(), "link")
}

func TestANameOfNone(t *testing.T) {
	all := load(t, meta.ResourceDefinitionSpec{Type: "Services.example.org"}, meta.ResourceDefinitionSpec{Type: "Nodes.example.org"})

	var unknown *kinds.UnknownError

	_, err := all.Find("servcie")
	require.ErrorAs(t, err, &unknown)
	assert.EqualError(t, err, `there is no resource type "servcie"; there is service`)

	_, err = all.Find("\x1b[31mquite another")
	assert.EqualError(t, err, `there is no resource type "\x1b[31mquite another"`)
}

func TestNearest(t *testing.T) {
	near := func(name string, known ...string) []string {
		return kinds.Nearest(name, func(yield func([]string) bool) {
			for _, k := range known {
				if !yield([]string{k}) {
					return
				}
			}
		})
	}

	assert.Equal(t, []string{"WebServer", "web2"}, near("web", "nothing", "web2", "WebServer"))
	assert.Empty(t, near("", "a"))
	assert.Empty(t, near("a", slices.Repeat([]string{"xyz"}, 3)...))
	assert.Len(t, near("web", slices.Repeat([]string{"webs"}, 9)...), 5)
}
