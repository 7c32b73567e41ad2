package operator

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

// Whatever the id of a primary is, its children name it, and no other of its kind.
func TestParentsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()

	anyID := rapid.OneOf(
		rapid.SampledFrom([]resource.ID{"a", "a/b", "/", "//a", "a/", "Sites/test/a", "../a", " ", "ü", "\n", "\x00", "a=b,c", "!", "%2F"}),
		rapid.StringN(1, 20, -1),
	)

	rapid.Check(t, func(t *rapid.T) {
		kind := reduced.Kind{
			Namespace: rapid.SampledFrom([]resource.Namespace{"test", "test/a", "a"}).Draw(t, "namespace"),
			Type:      rapid.SampledFrom([]resource.Type{"Sites", "Sites/test"}).Draw(t, "type"),
		}
		id, other := anyID.Draw(t, "id"), anyID.Draw(t, "other id")

		var labels resource.Labels

		labels.Set(ParentLabel, parentText(kind, id))

		read, ok := parentID(kind, &labels)
		require.True(t, ok)
		require.Equal(t, id, read)
		require.Equal(t, id == other, parentText(kind, id) == parentText(kind, other))
	})
}

func TestLabelsThatNameNoParent(t *testing.T) {
	t.Parallel()

	kind := reduced.Kind{Namespace: "test", Type: "Sites"}

	for _, text := range []string{"", "a", "Sites", "Sites/test", "Sites/test/", "Sites/other/a", "Pages/test/a", "/Sites/test/a", "sites/test/a"} {
		var labels resource.Labels

		labels.Set(ParentLabel, text)

		_, ok := parentID(kind, &labels)
		require.False(t, ok, text)
	}

	_, ok := parentID(kind, &resource.Labels{})
	require.False(t, ok)
}
