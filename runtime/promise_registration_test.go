package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/stateadapter"
)

const otherType = resource.Type("Others.test.switchyard.run")

// A registration that fails leaves no name, no claim, no edge and no watch behind, before Run and while it runs.
func TestFailedRegistrationLeavesNothing(t *testing.T) {
	for _, live := range []bool{false, true} {
		t.Run(fmt.Sprintf("running=%t", live), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newFaulty(newState())
				w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)
				w.register(&classic{name: "holder", outputs: []controller.Output{exclusive(targetType), shared("Shared")}, pass: idle})

				if live {
					w.start()
					synctest.Wait()
				}

				before, err := w.GetDependencyGraph()
				require.NoError(t, err)

				watched := sources(controller.InputWeak)

				for name, attempt := range map[string]struct {
					ctrl   any
					reason error
				}{
					"exclusive beside exclusive": {&classic{name: "x", inputs: []controller.Input{watched}, outputs: []controller.Output{exclusive(otherType), exclusive(targetType)}}, dependency.ErrOutputTaken},
					"shared beside exclusive":    {&classic{name: "x", inputs: []controller.Input{watched}, outputs: []controller.Output{exclusive(otherType), shared(targetType)}}, dependency.ErrOutputTaken},
					"exclusive beside shared":    {&classic{name: "x", inputs: []controller.Input{watched}, outputs: []controller.Output{exclusive(otherType), exclusive("Shared")}}, dependency.ErrOutputTaken},
					"name taken":                 {&classic{name: "holder", inputs: []controller.Input{watched}, outputs: []controller.Output{exclusive(otherType)}}, dependency.ErrNameTaken},
					"name taken by other form":   {&queued{name: "holder", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Outputs: []controller.Output{exclusive(otherType)}}}, dependency.ErrNameTaken},
					"input declared twice":       {&classic{name: "x", inputs: []controller.Input{watched, sources(controller.InputStrong)}, outputs: []controller.Output{exclusive(otherType)}}, dependency.ErrDuplicateInput},
					"queue input":                {&classic{name: "x", inputs: []controller.Input{watched, targets(controller.InputQMapped)}, outputs: []controller.Output{exclusive(otherType)}}, dependency.ErrInvalidInput},
					"classic input":              {&queued{name: "x", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary), targets(controller.InputWeak)}, Outputs: []controller.Output{exclusive(otherType)}}}, dependency.ErrInvalidInput},
					"no workers":                 {&queued{name: "x", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}, Outputs: []controller.Output{exclusive(otherType)}, Concurrency: optional.Some[uint](0)}}, dependency.ErrInvalidInput},
				} {
					err := w.tryRegister(attempt.ctrl)
					require.ErrorIs(t, err, attempt.reason, name)

					var refused *dependency.DeclarationError
					require.ErrorAs(t, err, &refused, name)
				}

				after, err := w.GetDependencyGraph()
				require.NoError(t, err)
				assert.Equal(t, before, after)
				assert.Empty(t, st.opened(sourceType), "no watch was opened")
				assert.Nil(t, contract.ControllerCrashes.Get("x"), "nothing is counted")
				assert.Nil(t, contract.QControllerCrashes.Get("x"), "nothing is counted")

				// Name and outputs of the refused ones are free.
				w.register(&classic{name: fmt.Sprintf("x, running %t", live), outputs: []controller.Output{exclusive("X")}, pass: idle})
				w.register(&classic{name: "accepted", outputs: []controller.Output{exclusive(otherType)}, pass: idle})

				if live {
					w.end()
				}
			})
		})
	}
}

// The refusal of an output names both controllers and the type.
func TestOutputConflictNamesBoth(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)
	w.register(&classic{name: "first", outputs: []controller.Output{exclusive(targetType)}, pass: idle})

	err := w.tryRegister(&queued{name: "second", settings: controller.QSettings{Outputs: []controller.Output{exclusive(targetType)}}})
	require.Error(t, err)

	for _, part := range []string{`"first"`, `"second"`, string(targetType)} {
		assert.Contains(t, err.Error(), part)
	}
}

// A controller registers before Run, while it runs, and from inside another controller; after the end it is an error.
func TestRegisterAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var started journal[string]

		note := func(name string) *classic {
			return &classic{name: name, pass: func(context.Context, controller.Runtime) error {
				started.add(name)

				return nil
			}}
		}

		w.register(note("before"))
		w.start()
		synctest.Wait()
		w.register(note("while running"))
		synctest.Wait()
		w.register(&classic{name: "parent", pass: func(context.Context, controller.Runtime) error {
			return w.RegisterController(note("from inside"))
		}})
		synctest.Wait()

		assert.Equal(t, []string{"before", "while running", "from inside"}, started.all())

		w.end()

		require.ErrorIs(t, w.tryRegister(note("late")), runtime.ErrStopped)
		require.ErrorIs(t, w.tryRegister(&queued{name: "late"}), runtime.ErrStopped)
		require.ErrorIs(t, w.Run(t.Context()), runtime.ErrStopped)
	})
}

// Unregister stops the controller, waits for it, and frees its name, its claims and its watches.
func TestUnregister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		ended := false
		release := make(chan struct{})

		w.register(&classic{
			name: "slow", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)},
			run: func(ctx context.Context, _ controller.Runtime) error {
				<-ctx.Done()
				<-release

				ended = true

				return ctx.Err()
			},
		})
		w.start()
		synctest.Wait()

		// While it has not ended, its claims stand, and the caller may stop waiting.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		require.ErrorIs(t, w.Unregister(ctx, "slow"), context.DeadlineExceeded)
		require.ErrorIs(t, w.tryRegister(&classic{name: "next", outputs: []controller.Output{exclusive(targetType)}}), dependency.ErrOutputTaken)

		// It goes on being unregistered, and one may wait again.
		again := make(chan error, 1)

		go func() { again <- w.Unregister(t.Context(), "slow") }()

		synctest.Wait()
		close(release)
		require.NoError(t, <-again)
		assert.True(t, ended)
		synctest.Wait()
		assert.Zero(t, st.watching(sourceType))
		require.ErrorIs(t, w.Unregister(t.Context(), "slow"), runtime.ErrNotRegistered)

		w.register(&classic{name: "slow", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)}, pass: idle})
		synctest.Wait()
		assert.Equal(t, 1, st.watching(sourceType))

		w.end()
	})
}

// A controller that unregisters itself from inside is refused; another one may do it.
func TestUnregisterFromInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		var itself, other journal[error]

		w.register(&classic{name: "victim", pass: func(ctx context.Context, _ controller.Runtime) error {
			itself.add(w.Unregister(ctx, "victim"))

			return nil
		}})
		w.register(&queued{name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
			reconcile: func(ctx context.Context, _ controller.QRuntime, _ resource.Pointer) error {
				itself.add(w.Unregister(ctx, "q"))
				other.add(w.Unregister(ctx, "victim"))

				return nil
			}})
		w.start()
		synctest.Wait() // the victim has had its pass
		w.create(newSource("s", 1))
		synctest.Wait()

		require.Len(t, itself.all(), 2)

		for _, err := range itself.all() {
			require.ErrorIs(t, err, runtime.ErrUnregistersItself)
		}

		require.Equal(t, []error{nil}, other.all())

		w.end()
	})
}

func TestUnregisterBeforeRun(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)
	w.register(&queued{name: "q", settings: controller.QSettings{Outputs: []controller.Output{exclusive(targetType)}, ShutdownHook: func() { t.Error("it was never started") }}})
	require.NoError(t, w.Unregister(t.Context(), "q"))
	w.register(&classic{name: "q", outputs: []controller.Output{exclusive(targetType)}, pass: idle})

	graph, err := w.GetDependencyGraph()
	require.NoError(t, err)
	assert.Len(t, graph.Edges, 1)
}

// Controllers come and go under a load of writes; those that stay miss nothing, and nothing of the gone is left.
func TestUnregisterUnderLoad(t *testing.T) {
	st := newFaulty(newState())
	w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)
	w.register(qmirror(2))
	w.start()

	var writers, churn sync.WaitGroup

	for i := range 4 {
		writers.Go(func() {
			for n := range 200 {
				id := fmt.Sprintf("%d-%d", i, n%20)

				switch _, err := w.state.Get(t.Context(), sourcePtr(id)); {
				case state.IsNotFoundError(err):
					assert.NoError(t, w.state.Create(t.Context(), newSource(id, n)))
				case n%7 == 0:
					assert.NoError(t, w.state.Destroy(t.Context(), sourcePtr(id)))
				default:
					w.set(id, n)
				}
			}
		})
	}

	for i := range 4 {
		churn.Go(func() {
			for n := range 25 {
				c := &classic{name: "c" + strconv.Itoa(i), inputs: []controller.Input{sources(controller.InputWeak), byID(sources(controller.InputStrong), strconv.Itoa(n))}, pass: idle}
				q := &queued{name: "q" + strconv.Itoa(i), settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}}}

				assert.NoError(t, w.RegisterController(c))
				assert.NoError(t, w.RegisterQController(q))
				assert.NoError(t, w.Unregister(t.Context(), c.name))
				assert.NoError(t, w.Unregister(t.Context(), q.name))
			}
		})
	}

	writers.Wait()
	churn.Wait()

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		health := w.Health()
		require.Len(c, health.Controllers, 1)
		assert.Zero(c, health.Controllers[0].Ready+health.Controllers[0].Processing)
	}, 10*time.Second, time.Millisecond)

	require.Eventually(t, func() bool { return mirrored(t, w.state) }, 10*time.Second, 5*time.Millisecond)
	w.requireMirrored()

	graph, err := w.GetDependencyGraph()
	require.NoError(t, err)
	assert.Len(t, graph.Edges, 2)
	assert.Equal(t, 1, st.watching(sourceType))
	w.end()
}

func mirrored(t *testing.T, st state.State) bool {
	from, err := st.List(t.Context(), sourcePtr(""))
	require.NoError(t, err)

	to, err := st.List(t.Context(), targetPtr(""))
	require.NoError(t, err)

	if len(from.Items) != len(to.Items) {
		return false
	}

	for i := range from.Items {
		if from.Items[i].Metadata().ID() != to.Items[i].Metadata().ID() || from.Items[i].(*source).TypedSpec().N != to.Items[i].(*target).TypedSpec().N {
			return false
		}
	}

	return true
}

// An update of inputs that is refused changes nothing: events and reads are as before, and the graph too.
func TestUpdateInputsIsAtomic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, runtime.Config{}, nil)

		a, b, c := byID(sources(controller.InputWeak), "a"), byID(sources(controller.InputWeak), "b"), byID(sources(controller.InputWeak), "c")

		var reads journal[string]

		update := make(chan []controller.Input)
		updated := make(chan error)

		w.register(&classic{name: "dynamic", inputs: []controller.Input{a}, run: func(ctx context.Context, r controller.Runtime) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case inputs := <-update:
					updated <- r.UpdateInputs(inputs)
				case <-r.EventCh():
					for _, id := range []resource.ID{"a", "b", "c"} {
						if _, err := r.Get(ctx, sourcePtr(id)); err == nil {
							reads.add(id)
						} else if !errors.Is(err, stateadapter.ErrNotReadable) {
							return err
						}
					}
				}
			}
		}})
		w.create(newSource("a", 1), newSource("b", 1), newSource("c", 1))
		w.start()
		synctest.Wait()

		before, err := w.GetDependencyGraph()
		require.NoError(t, err)

		update <- []controller.Input{b, c, c}
		require.ErrorIs(t, <-updated, dependency.ErrDuplicateInput)

		after, err := w.GetDependencyGraph()
		require.NoError(t, err)
		require.Equal(t, before, after)

		wakeups := reads.len()
		require.Equal(t, []string{"a"}, reads.all())

		w.set("b", 2)
		w.set("c", 2)
		synctest.Wait()
		require.Equal(t, wakeups, reads.len(), "b and c wake nobody")

		w.set("a", 2)
		synctest.Wait()
		require.Equal(t, []string{"a", "a"}, reads.all())

		// One that is accepted replaces all.
		update <- []controller.Input{b, c}
		require.NoError(t, <-updated)

		w.set("a", 3)
		synctest.Wait()
		require.Equal(t, []string{"a", "a"}, reads.all())

		w.set("c", 3)
		synctest.Wait()
		require.Equal(t, []string{"a", "a", "b", "c"}, reads.all())

		w.end()
	})
}

// Inputs are updated while another goroutine of the controller reads, and events are delivered.
func TestUpdateInputsBesideReads(t *testing.T) {
	w := newWorld(t, nil, runtime.Config{}, nil)
	done := make(chan struct{})

	w.register(&classic{name: "busy", inputs: []controller.Input{sources(controller.InputWeak)}, run: func(ctx context.Context, r controller.Runtime) error {
		var reader sync.WaitGroup

		reader.Go(func() {
			for range 200 {
				_, err := r.List(ctx, sourcePtr(""))
				assert.NoError(t, err)
			}
		})

		for i := range 200 {
			assert.NoError(t, r.UpdateInputs([]controller.Input{sources(controller.InputWeak), byID(sources(controller.InputStrong), strconv.Itoa(i))}))
		}

		reader.Wait()
		close(done)
		<-ctx.Done()

		return nil
	}})
	w.start()

	for i := range 100 {
		w.create(newSource(strconv.Itoa(i), i))
	}

	<-done
	w.end()
}

// A new input brings its watch, and an input that goes takes it away.
func TestUpdateInputsOpensAndClosesWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newFaulty(newState())
		w := newWorld(t, state.WrapCore(st), runtime.Config{}, nil)

		var seen journal[int]

		w.register(&classic{name: "dynamic", run: func(ctx context.Context, r controller.Runtime) error {
			if err := r.UpdateInputs([]controller.Input{sources(controller.InputWeak)}); err != nil {
				return err
			}

			for {
				select {
				case <-ctx.Done():
					return nil
				case <-r.EventCh():
				}

				list, err := safe.ReaderList[*source](ctx, r, sourcePtr(""))
				if err != nil {
					return err
				}

				seen.add(list.Len())

				if list.Len() == 2 {
					if err = r.UpdateInputs(nil); err != nil {
						return err
					}
				}
			}
		}})
		w.start()
		synctest.Wait()
		w.create(newSource("a", 1))
		synctest.Wait()
		require.Equal(t, []int{0, 1}, seen.all())
		require.Equal(t, 1, st.watching(sourceType))

		w.create(newSource("b", 1))
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2}, seen.all())
		assert.Zero(t, st.watching(sourceType))

		w.end()
	})
}

// Slices that a controller returns or passes are not reordered under it.
func TestDeclarationsAreNotModified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		declared := []controller.Input{byID(sources(controller.InputWeak), "z"), byID(sources(controller.InputWeak), "a")}
		passed := []controller.Input{byID(targets(controller.InputWeak), "z"), byID(targets(controller.InputWeak), "a")}
		outputs := []controller.Output{shared("Z"), shared("A")}

		w := newWorld(t, nil, runtime.Config{}, nil)
		w.register(&classic{name: "c", inputs: declared, outputs: outputs, run: func(ctx context.Context, r controller.Runtime) error {
			assert.NoError(t, r.UpdateInputs(passed))
			<-ctx.Done()

			return nil
		}})
		w.start()
		synctest.Wait()

		assert.Equal(t, []controller.Input{byID(sources(controller.InputWeak), "z"), byID(sources(controller.InputWeak), "a")}, declared)
		assert.Equal(t, []controller.Input{byID(targets(controller.InputWeak), "z"), byID(targets(controller.InputWeak), "a")}, passed)
		assert.Equal(t, []controller.Output{shared("Z"), shared("A")}, outputs)

		w.end()
	})
}

// A config that can not be honoured is refused with the field's name.
func TestConfigErrorsNameTheField(t *testing.T) {
	for field, cfg := range badConfigs() {
		_, err := runtime.New(newState(), nil, cfg)

		var refused *runtime.ConfigError
		require.ErrorAs(t, err, &refused, field)
		assert.Contains(t, refused.Field, field)
		assert.Contains(t, err.Error(), field)
	}

	_, err := runtime.New(nil, nil, runtime.Config{})
	require.ErrorContains(t, err, "state")
}
