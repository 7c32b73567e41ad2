package runtime_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever tears a resource down and waits until it can be destroyed is not left waiting when somebody else destroys it: it
// has gone, or is told to be gone.
func TestTeardownAndDestroyBesideOthers(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			st := newState()
			held := newSource("held", 0)
			held.Metadata().Finalizers().Add("holder")
			require.NoError(t, st.Create(t.Context(), held))

			ended := make(chan error, 1)

			go func() { ended <- st.TeardownAndDestroy(t.Context(), held.Metadata()) }()

			synctest.Wait()
			require.NoError(t, st.RemoveFinalizer(t.Context(), held.Metadata(), "holder"))

			if err := st.Destroy(t.Context(), held.Metadata()); err != nil {
				assert.ErrorContains(t, err, "doesn't exist") // the other was quicker
			}

			if err := <-ended; err != nil {
				assert.ErrorContains(t, err, "doesn't exist")
			}
		})
	}
}
