package qruntime_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/contain"
)

// A callback that panics or ends its goroutine has failed like one that returns an error; its worker lives on.
func TestPassesAreContained(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		fail  func()
		says  string
		stack bool
	}{
		"panic":        {fail: func() { panic("out of paper") }, says: "panic: out of paper", stack: true},
		"panic(error)": {fail: func() { panic(errFailed) }, says: "panic: it did not work", stack: true},
		"goexit":       {fail: runtime.Goexit, says: contain.ErrGoexit.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			left := map[string]int{"reconcile": 3, "map": 3}
			fail := func(job string) {
				if left[job]--; left[job] >= 0 {
					test.fail()
				}
			}

			inBubble(t, func(_ *testing.T, b *bench) {
				b.reconcile = func(_ context.Context, id resource.ID) error {
					if id == "a" {
						fail("reconcile")
					}

					return nil
				}

				b.mapInput = func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
					fail("map")

					return []resource.Pointer{key("n", "mapped").Pointer()}, nil
				}
			}, func(t *testing.T, b *bench) {
				b.Start(b.ctx)
				b.change("a", "b")
				b.changeMapped("s")
				pass(time.Hour)

				requireTrace(t, b, "0s: a", "0s: b", "0s: map s", "1s: a", "1s: map s", "3s: a", "3s: map s", "7s: a", "7s: map s", "7s: mapped")
				require.Equal(t, counted{"6", "6", "0", "6", "4", "1"}, b.counted())
				require.Len(t, b.failures(), 6)

				for _, line := range b.failures() {
					fields := line.ContextMap()
					require.Equal(t, test.says, fields["error"])
					require.Equal(t, test.stack, fields["stack"] != nil)
					require.Len(t, line.Context, len(fields), "each field once")
				}
			})
		})
	}
}
