package reduced_test

import (
	"fmt"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/reduced"
)

func keys() *rapid.Generator[reduced.Key] {
	part := rapid.SampledFrom([]string{"", "a", "ab", "b"})

	return rapid.Custom(func(t *rapid.T) reduced.Key {
		return reduced.Key{
			Kind: reduced.Kind{Namespace: part.Draw(t, "ns"), Type: part.Draw(t, "type")}, ID: part.Draw(t, "id"),
		}
	})
}

// A key says the same as the contract's pointer, in both directions.
func TestKeyAndPointerAreTheSame(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		key := keys().Draw(t, "key")
		ptr := key.Pointer()

		require.Equal(t, key, reduced.KeyOf(ptr))
		require.Equal(t, key.Kind, reduced.KindOf(ptr))
		require.Equal(t, key, reduced.KeyOf(resource.NewMetadata(key.Namespace, key.Type, key.ID, resource.VersionUndefined)))
		require.Equal(t, reduced.Key{Kind: key.Kind}, reduced.KeyOf(key.Kind.Pointer()))
		require.Equal(t, key.String(), fmt.Sprint(ptr))
	})
}

// The order is total, by namespace, then type, then id, and equal means the same key.
func TestKeysAreOrdered(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		a, b := keys().Draw(t, "a"), keys().Draw(t, "b")

		require.Equal(t, -b.Compare(a), a.Compare(b))
		require.Equal(t, a == b, a.Compare(b) == 0)
		require.Equal(t, a.Kind == b.Kind, a.Kind.Compare(b.Kind) == 0)

		switch {
		case a.Namespace != b.Namespace:
			require.Equal(t, a.Namespace < b.Namespace, a.Compare(b) < 0)
		case a.Type != b.Type:
			require.Equal(t, a.Type < b.Type, a.Compare(b) < 0)
		default:
			require.Equal(t, a.ID < b.ID, a.Compare(b) < 0)
		}
	})
}

func TestKeysAreRenderedLikeResources(t *testing.T) {
	t.Parallel()

	key := reduced.Key{Kind: reduced.Kind{Namespace: "net", Type: "Link"}, ID: "eth0"}

	assert.Equal(t, "Link(net/eth0)", key.String())
	assert.Equal(t, "net/Link", key.Kind.String())
}
