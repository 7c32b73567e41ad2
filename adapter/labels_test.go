package adapter_test

import (
	"context"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/adapter"
)

// A goroutine of a crew has the label of whom it works for, and none when it rests.
func TestCrewIsLabelledAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			crew  adapter.Crew
			loops sync.WaitGroup
		)

		crew.Open()

		for _, name := range []string{"first", "second", `"controller":"first"`} {
			gate := make(chan struct{})

			crew.Loop(adapter.Labelled(t.Context(), name), &loops, once(func() { <-gate }), nil)
			synctest.Wait()

			stacks := adapter.Stacks("first", "second", `"controller":"first"`)
			for other := range stacks {
				assert.Equal(t, other == name, stacks[other] != "", "%s while it is the turn of %s", other, name)
			}

			close(gate)
			loops.Wait()
			synctest.Wait()
			assert.Empty(t, adapter.Stacks(name)[name])
		}

		crew.Close()
	})
}

// However many goroutines a controller has, not too much of it is told.
func TestStacksAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})

		var deep func(depth int)

		deep = func(depth int) {
			if depth == 0 {
				<-gate

				return
			}

			deep(depth - 1)
		}

		for depth := range 100 {
			go func() {
				pprof.SetGoroutineLabels(adapter.Labelled(context.Background(), "many"))
				deep(depth)
			}()
		}

		synctest.Wait()

		stacks := adapter.Stacks("many")["many"]
		assert.Greater(t, strings.Count(stacks, "goroutines here: 1\n"), 1)
		assert.Less(t, len(stacks), 64<<10)
		close(gate)
	})
}
