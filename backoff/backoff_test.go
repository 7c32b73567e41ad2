package backoff_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/backoff"
)

func TestDelayGrowsToItsCap(t *testing.T) {
	t.Parallel()

	p := backoff.Policy{Base: time.Second, Factor: 2, Max: 10 * time.Second, Jitter: 0.5}

	for attempt, want := range map[int]time.Duration{
		-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 8 * time.Second,
		5: 10 * time.Second, 1000: 10 * time.Second, math.MaxInt: 10 * time.Second,
	} {
		assert.Equal(t, want, p.Delay(attempt, nil), "attempt %d", attempt)
	}
}

// The longest durations do not come out as the shortest.
func TestDelayWithoutACap(t *testing.T) {
	t.Parallel()

	p := backoff.Policy{Base: time.Second, Factor: 2, Max: math.MaxInt64, Jitter: 0.5}

	require.NoError(t, p.Validate())
	assert.Equal(t, time.Duration(math.MaxInt64), p.Delay(1_000, nil))
	assert.Equal(t, time.Duration(math.MaxInt64), p.Delay(1_000, func() float64 { return 0.9 }))
	assert.Less(t, p.Delay(1_000, func() float64 { return 0.1 }), time.Duration(math.MaxInt64))
}

func TestDelayStaysWithinJitter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		p := backoff.Policy{
			Base:   time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "base")),
			Factor: rapid.Float64Range(1, 10).Draw(t, "factor"),
			Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter"),
		}
		p.Max = p.Base * time.Duration(rapid.Int64Range(1, 100).Draw(t, "max"))

		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}

		attempt := rapid.IntRange(0, 100).Draw(t, "attempt")
		draw := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "draw")

		plain := float64(p.Delay(attempt, nil))
		got := float64(p.Delay(attempt, func() float64 { return draw }))

		if got < plain*(1-p.Jitter)-2 || got > plain*(1+p.Jitter)+2 || got < 1 {
			t.Fatalf("delay %v outside ±%v of %v", got, p.Jitter, plain)
		}
	})
}

func TestPresetsAreValid(t *testing.T) {
	t.Parallel()

	require.NoError(t, backoff.EngineRestart().Validate())
	require.NoError(t, backoff.Authoring().Validate())
	require.NoError(t, backoff.Watch().Validate())
}

func TestValidateNamesTheField(t *testing.T) {
	t.Parallel()

	good := backoff.Authoring()

	for field, edit := range map[string]func(*backoff.Policy){
		"Base":   func(p *backoff.Policy) { p.Base = 0 },
		"Factor": func(p *backoff.Policy) { p.Factor = math.NaN() },
		"Max":    func(p *backoff.Policy) { p.Max = p.Base - 1 },
		"Jitter": func(p *backoff.Policy) { p.Jitter = math.NaN() },
	} {
		p := good
		edit(&p)

		assert.ErrorContains(t, p.Validate(), field)
	}
}
