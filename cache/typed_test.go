package cache_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

func TestResourcesAreLentAsTheirType(t *testing.T) {
	t.Parallel()

	c := started(number("a", 1), spied{number("b", 2), new(int)}, number("c", 3))
	v := view(t, c)

	one, err := cache.Lend[*conformance.IntResource](v, "a")
	require.NoError(t, err)
	require.Equal(t, 1, one.Value())

	same, ok := v.Lend("a")
	require.True(t, ok)
	require.Same(t, same, one)

	_, err = cache.Lend[*conformance.IntResource](v, "none")
	require.True(t, state.IsNotFoundError(err))
	require.ErrorContains(t, err, "test/int(n/none)")

	var wrong *cache.TypeError

	_, err = cache.Lend[*conformance.StrResource](v, "a")
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "a", wrong.Key.ID)
	require.ErrorContains(t, err, "test/int(n/a)")

	sum, wrongs := 0, 0

	for res, err := range cache.Typed[*conformance.IntResource](v.All()) {
		if err != nil {
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, "b", wrong.Key.ID)
			require.Nil(t, res)

			wrongs++

			continue
		}

		sum += res.Value()
	}

	require.Equal(t, 4, sum)
	require.Equal(t, 1, wrongs)

	for res := range cache.Typed[*conformance.IntResource](v.All()) {
		require.Equal(t, 1, res.Value())

		break
	}
}
