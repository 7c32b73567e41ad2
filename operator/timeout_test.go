package operator_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// takes returns once that much time has passed, whatever the context says.
func takes(d time.Duration) { <-time.After(d) }

// A pass that has run out of its time has failed, is reported though its time is used up, and is tried again, whatever its
// handler makes of the end of its context.
func TestPassesThatRunOutOfTime(t *testing.T) {
	for name, test := range map[string]struct {
		handle func(ctx context.Context) error
		ends   time.Duration // the first pass
		said   string
		next   time.Duration // after that
	}{
		"honours its context": {func(ctx context.Context) error {
			<-ctx.Done()

			return ctx.Err()
		}, 10 * time.Second, "Ready False Timeout", time.Second},
		"has an error of its own for it": {func(ctx context.Context) error {
			<-ctx.Done()

			return errSecret
		}, 10 * time.Second, "Ready False Error", time.Second},
		"returns late, and well": {func(context.Context) error {
			takes(15 * time.Second)

			return nil
		}, 15 * time.Second, "Ready False Timeout", time.Second},
		"returns late, and wants to come again": {func(context.Context) error {
			takes(15 * time.Second)

			return operator.RequeueAfter(time.Hour)
		}, 15 * time.Second, "Ready False Timeout", time.Second},
		"panics late": {func(context.Context) error {
			takes(15 * time.Second)
			panic(errSecret)
		}, 15 * time.Second, "Ready False Panic", time.Second},
		"waits, though late": {func(context.Context) error {
			takes(15 * time.Second)

			return operator.Wait("Warming")
		}, 15 * time.Second, "Ready False Warming", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				light(w, func() *operator.Controller[*lamp] {
					c, glows := lit()

					return c.Timeout(10 * time.Second).Reconcile(func(ctx context.Context, _ *lamp, c *operator.Context[*lamp]) error {
						glows.Set(c, func(g *glow) { g.Lumen++ })

						if d.add("pass") > 0 {
							return nil
						}

						return test.handle(ctx)
					})
				})

				w.Create(newHeld("a", 1))
				w.Advance(test.ends + 500*time.Millisecond)
				require.Equal(w, []string{test.said}, said(w, "a"))
				require.Equal(w, 1, status(w, "a").Data.Lumen)

				w.Settle()
				require.Equal(w, []time.Duration{0, test.ends + test.next}, d.at())
				require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
				require.Equal(w, 2, status(w, "a").Data.Lumen)
			})
		})
	}
}

// A stage that uses up the time ends the pass: the later ones do not run.
func TestTimeIsThatOfAllStages(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			stage := func(name string) operator.StageHandler[*lamp] {
				return func(context.Context, *lamp, *operator.StageContext) error {
					if d.add(name) < 2 {
						takes(6 * time.Second)
					}

					return nil
				}
			}

			first := c.Timeout(10*time.Second).Stage("First", stage("first"))
			c.Stage("Third", stage("third"), c.Stage("Second", stage("second"), first))

			return c
		})

		w.Create(newHeld("a", 1))
		w.Advance(12*time.Second + 500*time.Millisecond)
		require.Equal(w, []string{
			"First True Reconciled", "Second False Timeout", "Third Unknown DependencyNotReady", "Ready False Timeout",
		}, said(w, "a"))

		w.Settle()
		require.Equal(w, []string{"first", "second", "first", "second", "third"}, d.take())
	})
}

// troubled is a state whose writes of statuses do something else for a while.
type troubled struct {
	state.CoreState

	write func(ctx context.Context) error
}

// Create implements [state.CoreState].
func (s *troubled) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if res.Metadata().Type() == lampStatusType && s.write != nil {
		if err := s.write(ctx); err != nil {
			return err
		}
	}

	return s.CoreState.Create(ctx, res, opts...)
}

// Update implements [state.CoreState].
func (s *troubled) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if res.Metadata().Type() == lampStatusType && s.write != nil {
		if err := s.write(ctx); err != nil {
			return err
		}
	}

	return s.CoreState.Update(ctx, res, opts...)
}

// trouble puts a troubled state around that of the world.
func trouble(w *controllertest.World) *troubled {
	t := &troubled{}
	w.Wrap(func(core state.CoreState) state.CoreState {
		t.CoreState = core

		return t
	})

	return t
}

// The time of a pass bounds the write of its status as well, and one that has used it up gets a little more for that.
func TestTimeBoundsTheReport(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		st := trouble(w)
		writes := 0
		st.write = func(ctx context.Context) error {
			if writes++; writes > 2 {
				return nil
			}

			<-ctx.Done()

			return ctx.Err()
		}

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()

			return c.Timeout(10 * time.Second).Reconcile(func(ctx context.Context, _ *lamp, _ *operator.Context[*lamp]) error {
				if d.add("pass") == 1 {
					<-ctx.Done()
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		// 10 s for the write, and 1 s until the next pass; 10 s for the handler, 5 s for the write, and 2 s.
		require.Equal(w, []time.Duration{0, 11 * time.Second, 28 * time.Second}, d.at())
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
	})
}

// A status that can not be written has the pass run again, whatever it has come to, and as it says so it does not run for ever.
func TestStatusesThatCanNotBeWritten(t *testing.T) {
	for name, test := range map[string]struct {
		outcomes []error
		said     string
	}{
		"success":  {nil, "Ready True Reconciled"},
		"a timer":  {[]error{operator.RequeueAfter(time.Hour), operator.RequeueAfter(time.Hour)}, "Ready True Reconciled"},
		"a wait":   {[]error{operator.Wait("Warming"), operator.Wait("Warming")}, "Ready True Reconciled"},
		"terminal": {slices.Repeat([]error{operator.Terminal(errSecret)}, 3), "Ready False Terminal"},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)
				st := trouble(w)
				writes := 0
				st.write = func(context.Context) error {
					if writes++; writes <= 2 {
						return errSecret
					}

					return nil
				}

				light(w, func() *operator.Controller[*lamp] { return scripted(d, test.outcomes...) })

				w.Create(newHeld("a", 1))
				w.Settle()
				require.Equal(w, []time.Duration{0, time.Second, 3 * time.Second}, d.at())
				require.Equal(w, []string{test.said}, said(w, "a"))
			})
		})
	}
}

// A process that is stopped in the middle of a pass writes nothing of it, whatever the handler returns then.
func TestShutdownWritesNoFailure(t *testing.T) {
	for name, returned := range map[string]error{
		"the end of its context":  nil, // see below
		"well":                    nil,
		"an error":                errSecret,
		"a wait":                  operator.Wait("Warming"),
		"that it is of no use":    operator.Terminal(errSecret),
		"that it is to be called": operator.RequeueAfter(time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				light(w, func() *operator.Controller[*lamp] {
					c, glows := lit()
					c.Timeout(time.Hour)

					return c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
						glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts })

						if d.add("pass") != 1 {
							return nil
						}

						c.Warn("Interrupted", "nobody reads this")
						<-ctx.Done()

						if name == "the end of its context" {
							return ctx.Err()
						}

						return returned
					})
				})

				w.Create(newHeld("a", 1))
				w.Settle()
				change(w, "a", func(s *lampSpec) { s.Watts = 2 })
				w.Advance(time.Minute)

				before := *controllertest.Get[*lampStatus](w, statusOf("a")).Metadata()
				events := len(controllertest.List[*operator.EventResource](w, operatorEvents()))

				w.Stop()
				require.Equal(w, before.Version(), controllertest.Get[*lampStatus](w, statusOf("a")).Metadata().Version())
				require.Len(w, controllertest.List[*operator.EventResource](w, operatorEvents()), events)
				require.Equal(w, 1, status(w, "a").Data.Lumen)

				w.Restart()
				w.Settle()
				require.Len(w, d.take(), 3)
				require.Equal(w, 2, status(w, "a").Data.Lumen)
				require.True(w, status(w, "a").Conditions.Holds(operator.Ready))
			})
		})
	}
}

// A process that is stopped while a status is written says nothing more, and the next one writes it.
func TestShutdownWhileTheStatusIsWritten(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		st := trouble(w)
		st.write = func(ctx context.Context) error {
			<-ctx.Done()

			return ctx.Err()
		}

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()

			return c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				d.add("pass")
				c.Event("Lit", "")

				return operator.Terminal(errSecret)
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(time.Minute)
		w.Stop()
		controllertest.Gone(w, statusOf("a"))
		require.Empty(w, noted(w))
		require.NotContains(w, w.Trace().String(), "events were dropped")

		st.write = nil

		w.Restart()
		w.Settle()
		require.Equal(w, []string{"pass", "pass"}, d.take())
		require.Equal(w, []string{"Ready False Terminal"}, said(w, "a"))
	})
}
