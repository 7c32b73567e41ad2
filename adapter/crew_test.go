package adapter_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/adapter"
)

// once is a loop of one step.
func once(do func()) func() bool {
	return func() bool {
		do()

		return false
	}
}

// hands counts the goroutines of crews when all is at rest.
func hands() int {
	synctest.Wait()

	stacks := make([]byte, 1<<20)

	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "adapter.(*Crew).work(")
}

func TestCrewUsesItsGoroutinesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			crew  adapter.Crew
			loops sync.WaitGroup
		)

		crew.Open()

		ran := 0

		for range 1_000 {
			crew.Loop(t.Context(), &loops, once(func() { ran++ }), nil)
			loops.Wait()
			synctest.Wait()
		}

		assert.Equal(t, 1_000, ran)
		assert.Equal(t, 1, hands())

		// However many are at work together, few are kept.
		gate := make(chan struct{})

		for range 100 {
			crew.Loop(t.Context(), &loops, once(func() { <-gate }), nil)
		}

		assert.Equal(t, 100, hands())
		close(gate)
		loops.Wait()
		assert.Equal(t, 16, hands())

		crew.Close()
		assert.Zero(t, hands())
	})
}

func TestCrewSurvivesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			crew          adapter.Crew
			loops         sync.WaitGroup
			steps, exited int
		)

		crew.Open()

		for range 3 {
			crew.Loop(t.Context(), &loops, func() bool {
				if steps++; steps%2 == 1 {
					runtime.Goexit()
				}

				return false
			}, func() { exited++ })
			loops.Wait()
		}

		assert.Equal(t, []int{6, 3}, []int{steps, exited})
		crew.Close()
	})
}

// What is at work when a crew is closed ends with its loop; a closed crew still runs what it is given.
func TestClosedCrewKeepsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			crew  adapter.Crew
			loops sync.WaitGroup
		)

		gate := make(chan struct{})

		crew.Open()
		crew.Loop(t.Context(), &loops, once(func() { <-gate }), nil)
		crew.Close()
		close(gate)
		loops.Wait()
		assert.Zero(t, hands())

		crew.Loop(t.Context(), &loops, once(func() {}), nil)
		loops.Wait()
		assert.Zero(t, hands())
	})
}

func TestManyUseACrewTogether(t *testing.T) {
	synctest.Test(t, manyUseACrew)
}

func manyUseACrew(t *testing.T) {
	var (
		crew     adapter.Crew
		loops    sync.WaitGroup
		starters sync.WaitGroup
		mu       sync.Mutex
		ran      int
	)

	crew.Open()

	for range 8 {
		starters.Go(func() {
			for range 1_000 {
				crew.Loop(t.Context(), &loops, once(func() {
					mu.Lock()
					defer mu.Unlock()

					ran++
				}), nil)
			}
		})
	}

	starters.Wait()
	crew.Close()
	loops.Wait()
	assert.Equal(t, 8_000, ran)
}
