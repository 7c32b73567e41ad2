// Package sidebyside_test plays the rows of docs/migrating.md on both engines, the one that ships with the contract and
// this one, so that the page stays true of both.
package sidebyside_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime/options"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// row is one row of the page. Its play tells in a word or two what an engine does.
type row struct {
	name       string // as it stands in the page
	peer, here string
	play       func(s *stage) string
	opts       []options.Option
}

func accepted(err error) string {
	if err != nil {
		return "refused"
	}

	return "accepted"
}

var rows = []row{
	{
		name: "empty controller name", peer: "accepted", here: "refused",
		play: func(s *stage) string { return accepted(s.RegisterController(&classic{})) },
	},
	{
		name: "empty resource type of an input or output", peer: "accepted", here: "refused",
		play: func(s *stage) string {
			return accepted(s.RegisterController(&classic{name: "c", inputs: []controller.Input{reads("", controller.InputWeak)}}))
		},
	},
	{
		name: "one type twice among the outputs", peer: "refused", here: "refused",
		play: func(s *stage) string {
			return accepted(s.RegisterController(&classic{name: "c", outputs: append(writes(otherType), writes(otherType)...)}))
		},
	},
	{
		name: "registration fails after outputs were claimed", peer: "refused", here: "accepted",
		play: func(s *stage) string {
			c := &classic{name: "c", inputs: []controller.Input{reads(inputType, controller.InputQPrimary)}, outputs: writes(otherType)}
			require.Error(s.t, s.RegisterController(c))

			c.inputs = nil

			return accepted(s.RegisterController(c))
		},
	},
	{
		name: "`Settings()`", peer: "2", here: "1",
		play: func(s *stage) string {
			q := &queued{inputs: []controller.Input{reads(inputType, controller.InputQPrimary)}}
			require.NoError(s.t, s.RegisterQController(q))
			s.start()

			return fmt.Sprint(q.asked.Load())
		},
	},
	{
		name: "slices of inputs passed in", peer: "sorted", here: "untouched",
		play: func(s *stage) string {
			inputs := []controller.Input{reads(otherType, controller.InputWeak), reads(inputType, controller.InputWeak)}
			require.NoError(s.t, s.RegisterController(&classic{name: "c", inputs: inputs}))

			if inputs[0].Type == inputType {
				return "sorted"
			}

			return "untouched"
		},
	},
	{
		name: "a watch can not be opened while registering into a running engine", peer: "refused", here: "accepted",
		play: func(s *stage) string {
			s.start()
			s.core.noWatch.Store(true)

			return accepted(s.RegisterController(&classic{name: "c", inputs: []controller.Input{reads(inputType, controller.InputWeak)}}))
		},
	},
	{
		name: "registering after `Run` has ended", peer: "accepted", here: "refused",
		play: func(s *stage) string {
			s.start()
			require.NoError(s.t, s.end())

			return accepted(s.RegisterController(&classic{name: "c"}))
		},
	},
	{
		name: "`UpdateInputs` while a watch can not be opened", peer: "refused", here: "accepted",
		play: func(s *stage) (came string) {
			s.play(&classic{name: "c", run: func(_ context.Context, r controller.Runtime) error {
				s.core.noWatch.Store(true)
				came = accepted(r.UpdateInputs([]controller.Input{reads(inputType, controller.InputWeak)}))

				return nil
			}})

			return came
		},
	},
	{
		name: "primary input with an id", peer: "0 passes", here: "1 passes",
		play: func(s *stage) string {
			q := &queued{inputs: []controller.Input{readsOne(inputType, "a", controller.InputQPrimary)}}
			require.NoError(s.t, s.RegisterQController(q))
			s.create(input("a"))
			s.create(input("b"))
			s.start()
			elapse(time.Minute)

			return fmt.Sprint(q.passes.Load(), " passes")
		},
	},
	{
		name: "an input by type and one by id", peer: "2", here: "1",
		play: func(s *stage) string {
			wakeups := -1 // the first one is for the start

			s.play(&classic{
				name: "c", inputs: []controller.Input{reads(inputType, controller.InputWeak), readsOne(inputType, "a", controller.InputWeak)},
				run: func(ctx context.Context, r controller.Runtime) error {
					for {
						select {
						case <-ctx.Done():
							return nil
						case <-r.EventCh():
							wakeups++
						}
					}
				},
			})
			s.create(input("a"))
			synctest.Wait()

			return fmt.Sprint(wakeups)
		},
	},
	{
		name: "`WithChangeRateLimit(x, 0)`", peer: "accepted", here: "refused",
		opts: []options.Option{options.WithChangeRateLimit(10, 0)},
	},
	{
		name: "`WithWarnOnUncachedReads`", peer: "3", here: "1",
		opts: []options.Option{options.WithWarnOnUncachedReads(true)},
		play: func(s *stage) string {
			s.play(&classic{
				name: "c", inputs: []controller.Input{reads(inputType, controller.InputWeak)},
				run: func(ctx context.Context, r controller.Runtime) error {
					_, first := r.List(ctx, input("").Metadata())
					_, second := r.List(ctx, input("").Metadata())
					_, third := r.ListUncached(ctx, input("").Metadata())

					return errors.Join(first, second, third)
				},
			})

			return fmt.Sprint(s.logs.FilterLevelExact(zap.WarnLevel).Len())
		},
	},
	{
		name: "a watch can not be opened at the start", peer: "Run returns", here: "Run goes on",
		play: func(s *stage) string {
			require.NoError(s.t, s.RegisterController(&classic{name: "c", inputs: []controller.Input{reads(inputType, controller.InputWeak)}}))
			s.core.noWatch.Store(true)
			s.start()

			return s.whetherItRuns(errNoWatch.Error())
		},
	},
	{
		name: "a watch breaks, or falls behind the state's history", peer: "Run returns", here: "Run goes on",
		play: func(s *stage) string {
			s.play(&classic{name: "c", inputs: []controller.Input{reads(inputType, controller.InputWeak)}})
			*s.core.watching.Load() <- []state.Event{{Type: state.Errored, Error: errNoWatch}}

			synctest.Wait()

			return s.whetherItRuns("controller runtime watch error: " + errNoWatch.Error())
		},
	},
	{
		name: "initial items", peer: "1 lists", here: "0 lists",
		play: func(s *stage) string {
			q := &queued{inputs: []controller.Input{reads(inputType, controller.InputQPrimary)}}
			require.NoError(s.t, s.RegisterQController(q))
			s.create(input("a"))
			s.start()
			require.EqualValues(s.t, 1, q.passes.Load())

			return fmt.Sprint(s.core.lists.Load(), " lists")
		},
	},
	{
		name: "mapped inputs at the start", peer: "0", here: "0",
		play: func(s *stage) string {
			q := &queued{inputs: []controller.Input{reads(inputType, controller.InputQPrimary), reads(otherType, controller.InputQMapped)}}
			require.NoError(s.t, s.RegisterQController(q))
			s.create(other("a"))
			s.start()
			elapse(time.Minute)

			return fmt.Sprint(q.mapped.Load())
		},
	},
	{
		name: "`NewRequeueInterval(0)`", peer: "1 pass", here: "again",
		play: func(s *stage) string { return s.passesOf(func() error { return controller.NewRequeueInterval(0) }) },
	},
	{
		name: "a requeue joined with an error, or wrapped", peer: "1 pass", here: "again",
		play: func(s *stage) string {
			return s.passesOf(func() error { return errors.Join(errors.New("broken"), controller.NewRequeueInterval(time.Hour)) })
		},
	},
	{
		name: "an error that is a cancellation, while the engine runs", peer: "1 pass", here: "again",
		play: func(s *stage) string { return s.passesOf(func() error { return context.Canceled }) },
	},
	{
		name: "`runtime.Goexit` in a pass", peer: "1 pass", here: "again",
		play: func(s *stage) string {
			return s.passesOf(func() error {
				goruntime.Goexit()

				return nil
			})
		},
	},
	{
		name: "two controllers, of either form, that keep undoing what the other one writes", peer: "at once", here: "at intervals",
		play: func(s *stage) string { return s.fight(1000) },
	},
	{
		name: "`MapInput` returns a resource that is no primary input", peer: "something is queued", here: "nothing is queued",
		play: func(s *stage) string {
			q := &queued{
				inputs:   []controller.Input{reads(inputType, controller.InputQPrimary), reads(otherType, controller.InputQMapped)},
				mapInput: func() []resource.Pointer { return []resource.Pointer{input("a").Metadata(), other("a").Metadata()} },
			}
			require.NoError(s.t, s.RegisterQController(q))
			s.start()
			s.create(other("a"))
			elapse(time.Minute)
			require.Greater(s.t, q.mapped.Load(), int32(1))

			if q.passes.Load() > 0 {
				return "something is queued"
			}

			return "nothing is queued"
		},
	},
	{
		name: "`runtime.Goexit` in `Run`", peer: "1 run", here: "again",
		play: func(s *stage) string { return s.runsOf(func() error { goruntime.Goexit(); return nil }) },
	},
	{
		name: "`Run` returns a cancellation, while the engine runs", peer: "1 run", here: "again",
		play: func(s *stage) string { return s.runsOf(func() error { return context.Canceled }) },
	},
	{
		name: "`CleanupOutputs` without `StartTrackingOutputs`", peer: "panics", here: "error",
		play: func(s *stage) (came string) {
			s.play(&classic{name: "c", outputs: writes(otherType), run: func(ctx context.Context, r controller.Runtime) error {
				defer func() {
					if recover() != nil {
						came = "panics"
					}
				}()

				if r.CleanupOutputs(ctx, other("").Metadata()) != nil {
					came = "error"
				}

				return nil
			}})

			return came
		},
	},
	{
		name: "`CleanupOutputs` meets an output with finalizers", peer: "stops there", here: "cleans up the others",
		play: func(s *stage) (came string) {
			held := other("a")
			held.Metadata().Finalizers().Add("f")
			s.create(held, state.WithCreateOwner("c"))
			s.create(other("b"), state.WithCreateOwner("c"))

			s.play(&classic{name: "c", outputs: writes(otherType), run: func(ctx context.Context, r controller.Runtime) error {
				r.StartTrackingOutputs()
				require.Error(s.t, r.CleanupOutputs(ctx, other("").Metadata()))

				return nil
			}})

			if _, err := s.core.Get(s.ctx, other("b").Metadata()); err == nil {
				return "stops there"
			}

			return "cleans up the others"
		},
	},
	{
		name: "`Modify` of a resource that somebody else creates in between", peer: "refused", here: "accepted",
		play: func(s *stage) string {
			interfere := func(resource.Resource) { s.create(other("a"), state.WithCreateOwner("c")) }
			s.core.onCreate.Store(&interfere)

			return accepted(s.modify())
		},
	},
	{
		name: "a phase conflict of `Modify`", peer: "conflict false, phase conflict true", here: "conflict true, phase conflict true",
		play: func(s *stage) string {
			s.create(other("a"), state.WithCreateOwner("c"))
			_, err := state.WrapCore(s.core.CoreState).Teardown(s.ctx, other("a").Metadata(), state.WithTeardownOwner("c"))
			require.NoError(s.t, err)

			err = s.modify()

			return fmt.Sprintf("conflict %t, phase conflict %t", state.IsConflictError(err), state.IsPhaseConflictError(err))
		},
	},
	{
		name: "an owner conflict", peer: "conflict true, owner conflict true", here: "conflict true, owner conflict true",
		play: func(s *stage) string {
			s.create(other("a"), state.WithCreateOwner("somebody else"))
			err := s.modify()

			return fmt.Sprintf("conflict %t, owner conflict %t", state.IsConflictError(err), state.IsOwnerConflictError(err))
		},
	},
	{
		name: "cached `Get` and `List` with options that a cache can not serve", peer: "refused", here: "accepted",
		opts: []options.Option{options.WithCachedResource(ns, inputType)},
		play: func(s *stage) string {
			s.start()

			_, err := s.CachedState().List(s.ctx, input("").Metadata(), state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))

			return accepted(err)
		},
	},
	{
		name: "`CachedState` before `Run`", peer: "blocks", here: "answers",
		opts: []options.Option{options.WithCachedResource(ns, inputType)},
		play: func(s *stage) string {
			ctx, cancel := context.WithTimeout(s.ctx, time.Hour)
			defer cancel()

			if _, err := s.CachedState().List(ctx, input("").Metadata()); errors.Is(err, context.DeadlineExceeded) {
				return "blocks"
			}

			return "answers"
		},
	},
	{
		name: "`CachedState` after `Run`", peer: "stale", here: "current",
		opts: []options.Option{options.WithCachedResource(ns, inputType)},
		play: func(s *stage) string {
			s.start()
			require.NoError(s.t, s.end())
			require.NoError(s.t, s.core.Create(context.Background(), input("a")))

			if _, err := s.CachedState().Get(context.Background(), input("a").Metadata()); state.IsNotFoundError(err) {
				return "stale"
			}

			return "current"
		},
	},
}

// whetherItRuns tells whether Run has returned, which it may with the error only.
func (s *stage) whetherItRuns(text string) string {
	select {
	case err := <-s.ended:
		s.runs = false

		require.EqualError(s.t, err, text)

		return "Run returns"
	default:
		return "Run goes on"
	}
}

// passesOf tells how often an item is passed to a controller that returns the error, within a minute.
func (s *stage) passesOf(reconcile func() error) string {
	q := &queued{inputs: []controller.Input{reads(inputType, controller.InputQPrimary)}, reconcile: reconcile}
	require.NoError(s.t, s.RegisterQController(q))
	s.create(input("a"))
	s.start()
	elapse(time.Minute)

	if q.passes.Load() > 1 {
		return "again"
	}

	return "1 pass"
}

// runsOf tells how often the controller is run within a minute.
func (s *stage) runsOf(run func() error) string {
	runs := 0

	s.play(&classic{name: "c", run: func(context.Context, controller.Runtime) error {
		runs++

		return run()
	}})
	elapse(time.Minute)

	if runs > 1 {
		return "again"
	}

	return "1 run"
}

// fight tells whether two controllers undo each other so many times without any time going by.
func (s *stage) fight(passes int32) string {
	var count atomic.Int32

	s.create(other("a"))

	for _, colour := range []string{"red", "blue"} {
		require.NoError(s.t, s.RegisterController(&classic{
			name: colour, inputs: []controller.Input{reads(otherType, controller.InputWeak)}, outputs: writes(otherType),
			run: func(ctx context.Context, r controller.Runtime) error {
				for count.Load() < passes {
					select {
					case <-ctx.Done():
						return nil
					case <-r.EventCh():
					}

					count.Add(1)

					if err := r.Modify(ctx, other("a"), func(res resource.Resource) error {
						res.Metadata().Labels().Set("colour", colour)

						return nil
					}, controller.WithModifyNoOwner()); err != nil {
						return err
					}
				}

				return nil
			},
		}))
	}

	s.start()

	if count.Load() < passes {
		return "at intervals"
	}

	return "at once"
}

// modify modifies the resource from within a controller.
func (s *stage) modify() (err error) {
	s.play(&classic{name: "c", outputs: writes(otherType), run: func(ctx context.Context, r controller.Runtime) error {
		err = r.Modify(ctx, other("a"), func(res resource.Resource) error {
			res.Metadata().Labels().Set("touched", "")

			return nil
		})

		return nil
	}})

	return err
}

func TestRows(t *testing.T) {
	page, err := os.ReadFile("../migrating.md")
	require.NoError(t, err)

	for _, r := range rows {
		assert.Contains(t, string(page), "\n| "+r.name+" |", "the page has no such row")

		t.Run(strings.ReplaceAll(r.name, "`", ""), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := newStage(t, buildPeer, r.opts...)
				assert.Equal(t, r.peer, r.outcome(s, err), "the contract's engine")
			})
			synctest.Test(t, func(t *testing.T) {
				s, err := newStage(t, buildOurs, r.opts...)
				assert.Equal(t, r.here, r.outcome(s, err), "this engine")
			})
		})
	}
}

// outcome plays the row. One without a play is about building the engine.
func (r row) outcome(s *stage, err error) string {
	defer s.end()

	if r.play == nil {
		return accepted(err)
	}

	require.NoError(s.t, err)

	return r.play(s)
}
