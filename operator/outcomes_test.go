package operator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/reconcile"
)

// scripted is a controller whose handler writes down when it runs and returns what is in the list, and nil after that.
func scripted(d *diary, outcomes ...error) *operator.Controller[*lamp] {
	c, _ := lit()

	return c.Reconcile(func(context.Context, *lamp, *operator.Context[*lamp]) error {
		if n := d.add("pass"); n < len(outcomes) {
			return outcomes[n]
		}

		return nil
	})
}

// seconds are moments.
func seconds(all ...int) (times []time.Duration) {
	for _, n := range all {
		times = append(times, time.Duration(n)*time.Second)
	}

	return times
}

// What follows a pass, and what is said of it, depend on what its handler has returned and on nothing else.
func TestOutcomesOfAPass(t *testing.T) {
	type errs = []error

	var (
		warming  = operator.Wait("Warming")
		longer   = operator.Wait("Warming", operator.After(5*time.Minute))
		timer    = operator.RequeueAfter(time.Second)
		terminal = operator.Terminal(errSecret)
	)

	for name, test := range map[string]struct {
		outcomes errs // later passes go well
		// said is what Ready is after the first pass, and at is when there are passes in the first half hour.
		said string
		at   []time.Duration
	}{
		"nil":                       {nil, "True Reconciled", seconds(0)},
		"a timer":                   {errs{timer}, "True Reconciled", seconds(0, 1)},
		"a wait":                    {errs{warming}, "False Warming", seconds(0, 30)},
		"a wait that says how long": {errs{longer}, "False Warming", seconds(0, 300)},
		"a wrapped wait":            {errs{fmt.Errorf("not yet: %w", warming)}, "False Warming", seconds(0, 30)},
		"errors":                    {errs{errSecret, errSecret, errSecret}, "False Error", seconds(0, 1, 3, 7)},
		"a wait forgets errors":     {errs{errSecret, errSecret, warming, errSecret}, "False Error", seconds(0, 1, 3, 33, 34)},
		"a success forgets errors":  {errs{errSecret, errSecret, timer, errSecret}, "False Error", seconds(0, 1, 3, 4, 5)},
		"terminal":                  {errs{terminal}, "False Terminal", seconds(0)},
		"terminal, among others":    {errs{errors.Join(errSecret, terminal)}, "False Terminal", seconds(0)},
		"a wait beside an error":    {errs{errors.Join(warming, errSecret)}, "False Error", seconds(0, 1)},
		"a cancellation of its own": {errs{context.Canceled}, "False Error", seconds(0, 1)},

		// Mistakes in what is returned.
		"a wait without a reason":   {errs{operator.Wait("")}, "False Refused", seconds(0)},
		"a wait of no time":         {errs{operator.Wait("Warming", operator.After(0))}, "False Refused", seconds(0)},
		"a wait of less than that":  {errs{operator.Wait("Warming", operator.After(-1))}, "False Refused", seconds(0)},
		"a timer of no time":        {errs{operator.RequeueAfter(0)}, "False Refused", seconds(0)},
		"a timer of less than that": {errs{operator.RequeueAfter(-1)}, "False Refused", seconds(0)},
	} {
		t.Run(name, func(t *testing.T) { requireOutcome(t, 0, test.outcomes, test.said, test.at) })
	}

	// What is said by the outcome comes before what is said by the definition.
	for name, test := range map[string]struct {
		outcomes errs
		said     string
		at       []time.Duration
	}{
		"nil":      {nil, "True Reconciled", seconds(0, 1200)},
		"a timer":  {errs{timer}, "True Reconciled", seconds(0, 1, 1201)},
		"a wait":   {errs{warming}, "False Warming", seconds(0, 30, 1230)},
		"an error": {errs{errSecret}, "False Error", seconds(0, 1, 1201)},
		"terminal": {errs{terminal}, "False Terminal", seconds(0)},
	} {
		t.Run("every 20 minutes, "+name, func(t *testing.T) { requireOutcome(t, 20*time.Minute, test.outcomes, test.said, test.at) })
	}
}

func requireOutcome(t *testing.T, every time.Duration, outcomes []error, ready string, at []time.Duration) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c := scripted(d, outcomes...)
			if every > 0 {
				c.Every(every)
			}

			return c
		})

		w.Create(newHeld("a", 1))
		w.Advance(500 * time.Millisecond)
		require.Equal(w, []string{"Ready " + ready}, said(w, "a"))

		w.Advance(30 * time.Minute)
		require.Equal(w, at, d.at())
	})
}

// A handler that panics has failed, and says no more than that.
func TestHandlersThatPanicHaveFailed(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			c.Stage("First", func(context.Context, *lamp, *operator.StageContext) error {
				if d.add("pass") == 0 {
					panic("password is hunter2")
				}

				return nil
			})

			return c
		})

		w.Create(newHeld("a", 1))
		w.Advance(500 * time.Millisecond)

		first, _ := status(w, "a").Conditions.Get("First")
		require.Equal(w, "Panic First: Panic", first.Reason+" "+first.Message)

		w.Settle()
		require.Equal(w, []time.Duration{0, time.Second}, d.at())
		require.True(w, status(w, "a").Conditions.Holds(operator.Ready))
	})
}

// mute is an error that can not answer what it is asked.
type mute struct{ class, reason, public bool }

func (*mute) Error() string { return "it is mute" }

func (m *mute) Class() reconcile.Class { return answer(m.class, reconcile.ClassTransient) }
func (m *mute) Reason() string         { return answer(m.reason, "Mute") }
func (m *mute) Public() string         { return answer(m.public, "mute") }

func answer[T any](can bool, text T) T {
	if !can {
		panic("no answer")
	}

	return text
}

// An error that can not be asked what it is, is a failure of its handler like any other.
func TestErrorsThatCanNotBeAsked(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"all of it":     {&mute{true, true, true}, "Ready False Mute"},
		"its class":     {&mute{false, true, true}, "Ready False Panic"},
		"its reason":    {&mute{true, false, true}, "Ready False Panic"},
		"what it tells": {&mute{true, true, false}, "Ready False Panic"},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				light(w, func() *operator.Controller[*lamp] {
					c := scripted(d, test.err)
					c.Finalize("lamps", func(context.Context, *lamp, *operator.StageContext) error {
						if d.add("finalize") == 2 {
							return test.err
						}

						return nil
					})

					return c
				})

				w.Create(newHeld("a", 1))
				w.Advance(500 * time.Millisecond)
				require.Equal(w, []string{test.want}, said(w, "a"))

				w.Settle()
				w.Destroy(newLamp("a", 0).Metadata())
				w.Advance(500 * time.Millisecond)
				require.Equal(w, []string{test.want}, said(w, "a"))

				w.Settle()
				require.Equal(w, []string{"pass", "pass", "finalize", "finalize"}, d.take())
				controllertest.Gone(w, newLamp("a", 0).Metadata())
			})
		})
	}
}

// The timers of several stages come to the shortest of them.
func TestTimersOfSeveralStages(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			stage := func(times ...time.Duration) operator.StageHandler[*lamp] {
				return func(context.Context, *lamp, *operator.StageContext) error {
					if after := times[min(d.add("stage")/3, len(times)-1)]; after > 0 {
						return operator.RequeueAfter(after)
					}

					return nil
				}
			}

			first := c.Stage("First", stage(time.Minute, time.Second, 0))
			c.Stage("Third", stage(time.Hour, time.Hour, 0), c.Stage("Second", stage(30*time.Second, 0), first))

			return c
		})

		w.Create(newHeld("a", 1))
		w.Settle()

		const one, two = 30 * time.Second, 31 * time.Second

		require.Equal(w, []time.Duration{0, 0, 0, one, one, one, two, two, two}, d.at())
	})
}

// A stage that is to run again soon does, though a later one waits for longer.
func TestTimersOfStagesBeforeAWait(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			first := c.Stage("First", func(context.Context, *lamp, *operator.StageContext) error {
				d.add("first")

				return operator.RequeueAfter(10 * time.Second)
			})

			c.Stage("Second", func(_ context.Context, l *lamp, _ *operator.StageContext) error {
				return operator.Wait("Warming", operator.After(time.Duration(l.TypedSpec().Watts)*time.Second))
			}, first)

			return c
		})

		w.Create(newHeld("a", 3600))
		w.Advance(15 * time.Second)
		require.Equal(w, []time.Duration{0, 10 * time.Second}, d.at())

		d.take()
		change(w, "a", func(s *lampSpec) { s.Watts = 5 })
		w.Advance(7 * time.Second)
		require.Equal(w, []time.Duration{0, 5 * time.Second}, d.at())
	})
}

// What has failed in the middle begins from the start, and what is not tried again is when something changes, or when somebody
// has everything looked at.
func TestNoPassGoesOnInTheMiddle(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		terminal := operator.Terminal(errSecret)
		outcomes := []error{errSecret, errSecret, operator.Wait("Warming"), terminal, terminal, nil}

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			c.Stage("Second", func(context.Context, *lamp, *operator.StageContext) error {
				d.add("second")

				err := outcomes[0]
				outcomes = outcomes[1:]

				return err
			}, c.Stage("First", func(context.Context, *lamp, *operator.StageContext) error {
				d.add("first")

				return nil
			}))

			return c
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"first", "second", "first", "second", "first", "second", "first", "second"}, d.take())
		require.Len(w, outcomes, 2)

		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()
		require.Equal(w, []string{"first", "second"}, d.take())

		w.WakeAll()
		w.Settle()
		require.Equal(w, []string{"first", "second"}, d.take())
		require.True(w, status(w, "a").Conditions.Holds(operator.Ready))
	})
}

// What is waited for ends the wait when it comes, long before its time.
func TestWatchesEndWaits(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			operator.Watch(c, operator.SameID[*bulb])

			return c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
				d.add("pass")

				if _, err := operator.Get[*bulb](ctx, c, l.Metadata().ID()); err != nil {
					return operator.Wait("NoBulb", operator.After(time.Hour))
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(time.Second)
		require.Equal(w, []string{"Ready False NoBulb"}, said(w, "a"))

		w.Create(newBulb("a", 1))
		w.Advance(time.Second)
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, []time.Duration{0, time.Second}, d.at())
	})
}

// Of a pass that fails, the changes of the primary are not saved, and what it has written otherwise stays.
func TestWhatIsSavedOfAPassThatFails(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()
			operator.Owns[*bulb](c)
			c.Mutates()

			return c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
				glows.Set(c, func(g *glow) { g.Lumen = 3 })
				c.Condition("Screwed", operator.True, "Tight", "by hand")

				l.TypedSpec().Watts = 9
				l.Metadata().Labels().Set("touched", "yes")

				require.NoError(w, c.Save(l))
				require.NoError(w, operator.Ensure(ctx, c, &bulb{}, func(b *bulb) { b.TypedSpec().Watts = 9 }))

				return operator.Terminal(errSecret)
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, 9, controllertest.Get[*bulb](w, newBulb("a", 0).Metadata()).TypedSpec().Watts)
		require.Equal(w, []string{"Screwed True Tight", "Ready False Terminal"}, said(w, "a"))
		require.Equal(w, 3, status(w, "a").Data.Lumen)

		l := controllertest.Get[*lamp](w, newLamp("a", 0).Metadata())
		require.Equal(w, 1, l.TypedSpec().Watts)
		require.Empty(w, l.Metadata().Labels().Raw())
	})
}

// What a Finalize handler does wrong keeps the primary where it is.
func TestMistakesInFinalizeKeepThePrimary(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		wrong := true

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			c.Finalize("lamps", func(_ context.Context, _ *lamp, c *operator.StageContext) error {
				d.add("finalize")

				if wrong {
					c.Condition(operator.Ready, operator.True, "Mine", "")
				}

				return nil
			})

			return c.Reconcile(good)
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		w.Destroy(newLamp("a", 0).Metadata())
		w.Settle()
		require.Equal(w, []string{"finalize"}, d.take())
		require.Equal(w, []string{"Ready False Refused"}, said(w, "a"))

		wrong = false

		w.WakeAll()
		w.Settle()
		controllertest.Gone(w, newLamp("a", 0).Metadata())
		controllertest.Gone(w, resource.NewMetadata(lampsIn, lampStatusType, "a", resource.VersionUndefined))
	})
}
