package recording

import (
	"context"
	"math/rand/v2"
)

// Rand returns a source of randomness for a pass: it draws from the given one, and what it draws is in the recording. The
// context is that of the pass or the Run. Nothing is drawn from the given one in a replay.
func Rand(ctx context.Context, source rand.Source) rand.Source {
	if traceOf(ctx) == nil {
		return source
	}

	return &drawer{ctx, source}
}

type drawer struct {
	ctx   context.Context
	inner rand.Source
}

// Uint64 implements [rand.Source].
func (d *drawer) Uint64() uint64 {
	drawn, _ := Ask(d.ctx, "a random number", func() (uint64, error) { return d.inner.Uint64(), nil })

	return drawn
}
