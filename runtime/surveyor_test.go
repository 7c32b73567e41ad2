package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/switchyard-run/switchyard/runtime"
)

// observed builds an engine that says what it finds to the observer. It does not run yet.
func observed(t *testing.T, cfg runtime.Config, level zapcore.Level) (*world, *observer.ObservedLogs) {
	t.Helper()

	core, logs := observer.New(level)
	st := newState()

	rt, err := runtime.New(st, zap.New(core), cfg)
	require.NoError(t, err)

	return &world{Runtime: rt, t: t, state: st}, logs
}

// told waits until the engine has looked, and returns the lines since the last call.
func told(logs *observer.ObservedLogs) []string {
	time.Sleep(15 * time.Second)
	synctest.Wait()

	var lines []string

	for _, entry := range logs.TakeAll() {
		lines = append(lines, fmt.Sprint(entry.Level, ": ", entry.Message, " ", entry.ContextMap()))
	}

	return lines
}

const (
	fed = "warn: controllers feed each other, and come to rest only if one of them writes nothing when nothing has changed: " +
		"see that one does, or have one read something else "
	unproduced = "info: controllers read what no controller writes: it has to come from outside "
	unread     = "info: controllers write what no controller reads: it is for others outside, or left over "
)

// updating is the Run of a controller that has what it gets as its inputs.
func updating(update <-chan []controller.Input) func(context.Context, controller.Runtime) error {
	return func(ctx context.Context, r controller.Runtime) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-r.EventCh():
			case inputs := <-update:
				if err := r.UpdateInputs(inputs); err != nil {
					return err
				}
			}
		}
	}
}

// What is there when Run begins is told at once, and no second time while it stands.
func TestFindingsAreToldWhenRunBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, logs := observed(t, runtime.Config{}, zap.InfoLevel)

		w.register(&classic{name: "there", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)}, pass: idle})
		w.register(&classic{name: "back", inputs: []controller.Input{targets(controller.InputStrong)}, outputs: []controller.Output{exclusive(sourceType)}, pass: idle})
		w.register(&classic{name: "reader", inputs: []controller.Input{{Namespace: "else", Type: "Foreign", Kind: controller.InputWeak}}, pass: idle})
		w.register(&classic{name: "writer", outputs: []controller.Output{exclusive("Result")}, pass: idle})
		w.start()
		synctest.Wait()

		assert.Equal(t, []string{
			fed + "map[controllers:[back there] cycle:back -> Sources.test.switchyard.run -> there -> Targets.test.switchyard.run -> back]",
			unproduced + "map[count:1 kinds:[else/Foreign (reader)]]",
			unread + "map[count:1 kinds:[Result (writer)]]",
		}, told(logs))

		time.Sleep(time.Hour)
		assert.Empty(t, told(logs))

		// Something else changes; what stands is not told again.
		w.register(&classic{name: "late", inputs: []controller.Input{{Namespace: "else", Type: "Foreign", Kind: controller.InputWeak}}, pass: idle})
		assert.Empty(t, told(logs))
		w.end()
	})
}

// What comes with a registration or new inputs is told once, and again if it has gone in between.
func TestFindingsAreToldAfterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, logs := observed(t, runtime.Config{}, zap.InfoLevel)
		update := make(chan []controller.Input)

		w.start()
		require.Empty(t, told(logs))

		w.register(&classic{
			name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{shared(targetType)},
			run: updating(update),
		})

		readsSources := unproduced + "map[count:1 kinds:[" + ns + "/" + sourceType + " (c)]]"
		writesTargets := unread + "map[count:1 kinds:[" + targetType + " (c)]]"
		feedsItself := fed + "map[controllers:[c] cycle:c -> " + targetType + " -> c]"

		assert.Equal(t, []string{readsSources, writesTargets}, told(logs))

		update <- []controller.Input{targets(controller.InputWeak)}
		assert.Equal(t, []string{feedsItself}, told(logs))

		update <- []controller.Input{sources(controller.InputWeak)}
		assert.Equal(t, []string{readsSources, writesTargets}, told(logs))

		update <- []controller.Input{targets(controller.InputWeak)}
		assert.Equal(t, []string{feedsItself}, told(logs))

		w.register(&classic{name: "d", inputs: []controller.Input{targets(controller.InputWeak)}, outputs: []controller.Output{shared(targetType)}, pass: idle})
		assert.Equal(t, []string{fed + "map[controllers:[c d] cycle:c -> " + targetType + " -> c]"}, told(logs), "the group is another one")

		require.NoError(t, w.Unregister(t.Context(), "d"))
		assert.Equal(t, []string{feedsItself}, told(logs))

		require.NoError(t, w.Unregister(t.Context(), "c"))
		assert.Empty(t, told(logs))
		w.end()
	})
}

// Two hundred inputs from outside are one line, which names some of them.
func TestNotesOfAKindAreOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, logs := observed(t, runtime.Config{}, zap.InfoLevel)

		for i := range 200 {
			w.register(&classic{name: fmt.Sprintf("c%03d", i), inputs: []controller.Input{{Namespace: ns, Type: fmt.Sprintf("T%03d", i), Kind: controller.InputWeak}}, pass: idle})
		}

		w.start()
		synctest.Wait()

		require.Equal(t, 1, logs.Len())

		fields := logs.All()[0].ContextMap()
		kinds := fields["kinds"].([]any)

		assert.EqualValues(t, 200, fields["count"])
		require.Len(t, kinds, 51)
		assert.Equal(t, "test/T000 (c000)", kinds[0])
		assert.Equal(t, "and 150 more", kinds[50])
		w.end()
	})
}

func TestFindingsCanBeSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, logs := observed(t, runtime.Config{NoFindings: true}, zap.InfoLevel)

		w.register(&classic{name: "c", inputs: []controller.Input{targets(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)}, pass: idle})
		w.start()
		assert.Empty(t, told(logs))
		w.end()
	})
}

// The number is another one after whatever changes the graph, and the same where nothing has.
func TestGraphRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := observed(t, runtime.Config{}, zap.ErrorLevel)
		update := make(chan []controller.Input)
		revision := w.GraphRevision()

		changed := func(yes bool) {
			t.Helper()

			synctest.Wait()

			now := w.GraphRevision()
			assert.Equal(t, yes, now != revision)

			revision = now
		}

		changed(false)

		c := &classic{name: "c", inputs: []controller.Input{sources(controller.InputWeak)}, run: updating(update)}

		w.register(c)
		changed(true)
		require.Error(t, w.tryRegister(c))
		changed(false)

		w.start()
		changed(false)

		update <- []controller.Input{sources(controller.InputWeak), targets(controller.InputWeak)}
		changed(true)

		update <- []controller.Input{targets(controller.InputWeak), sources(controller.InputWeak)}
		changed(false)

		update <- nil
		changed(true)

		require.NoError(t, w.Unregister(t.Context(), "c"))
		changed(true)
		w.end()
	})
}
