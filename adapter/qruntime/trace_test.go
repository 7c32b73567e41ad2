package qruntime_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
)

// Whoever sees that nothing is left to do sees that all passes have ended.
func TestPassesHaveEndedWhenNothingIsLeft(t *testing.T) {
	t.Parallel()

	for _, workers := range []uint{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()

			inBubble(t, func(_ *testing.T, b *bench) {
				b.settings.Concurrency = optional.Some(workers)
				b.tracer = cause.New(cause.Config{Workers: int(workers)})
			}, func(t *testing.T, b *bench) {
				b.Start(b.ctx)

				for range 3000 {
					b.change("a")

					for s := b.Status(); s.Ready+s.Processing > 0; s = b.Status() {
						runtime.Gosched()
					}

					require.Zero(t, b.tracer.Timings().Outcomes[cause.Running])
				}
			})
		})
	}
}
