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

// What follows a pass, and what is said of it, depend on what its handler has returned and on nothing else.
func TestOutcomesOfAPass(t *testing.T) {
	const second = time.Second

	every := func(c *operator.Controller[*lamp]) { c.Every(20 * time.Minute) }

	for name, test := range map[string]struct {
		outcomes []error
		define   func(*operator.Controller[*lamp])
		// said is what Ready is after the first pass, and at is when there are passes in the first half hour.
		said string
		at   []time.Duration
	}{
		"nil":               {nil, nil, "Ready True Reconciled", []time.Duration{0}},
		"a timer":           {[]error{operator.RequeueAfter(5 * second)}, nil, "Ready True Reconciled", []time.Duration{0, 5 * second}},
		"a wait":            {[]error{operator.Wait("Warming")}, nil, "Ready False Warming", []time.Duration{0, 30 * second}},
		"a wait with delay": {[]error{operator.Wait("Warming", operator.After(300*second))}, nil, "Ready False Warming", []time.Duration{0, 300 * second}},
		"a wrapped wait":    {[]error{fmt.Errorf("not yet: %w", operator.Wait("Warming"))}, nil, "Ready False Warming", []time.Duration{0, 30 * second}},
		"errors":            {[]error{errSecret, errSecret, errSecret}, nil, "Ready False Error", []time.Duration{0, second, 3 * second, 7 * second}},
		"a wait forgets errors": {
			[]error{errSecret, errSecret, operator.Wait("Warming"), errSecret}, nil, "Ready False Error",
			[]time.Duration{0, second, 3 * second, 33 * second, 34 * second},
		},
		"a success forgets errors": {
			[]error{errSecret, errSecret, operator.RequeueAfter(second), errSecret}, nil, "Ready False Error",
			[]time.Duration{0, second, 3 * second, 4 * second, 5 * second},
		},
		"terminal":                  {[]error{operator.Terminal(errSecret)}, nil, "Ready False Terminal", []time.Duration{0}},
		"terminal, among others":    {[]error{errors.Join(errSecret, operator.Terminal(errSecret))}, nil, "Ready False Terminal", []time.Duration{0}},
		"a wait beside an error":    {[]error{errors.Join(operator.Wait("Warming"), errSecret)}, nil, "Ready False Error", []time.Duration{0, second}},
		"a cancellation of its own": {[]error{context.Canceled}, nil, "Ready False Error", []time.Duration{0, second}},

		// Mistakes in what is returned.
		"a wait without a reason":   {[]error{operator.Wait("")}, nil, "Ready False Terminal", []time.Duration{0}},
		"a wait of no time":         {[]error{operator.Wait("Warming", operator.After(0))}, nil, "Ready False Terminal", []time.Duration{0}},
		"a wait of less than that":  {[]error{operator.Wait("Warming", operator.After(-second))}, nil, "Ready False Terminal", []time.Duration{0}},
		"a timer of no time":        {[]error{operator.RequeueAfter(0)}, nil, "Ready False Terminal", []time.Duration{0}},
		"a timer of less than that": {[]error{operator.RequeueAfter(-second)}, nil, "Ready False Terminal", []time.Duration{0}},

		// What is said by the outcome comes before what is said by the definition.
		"every": {nil, every, "Ready True Reconciled", []time.Duration{0, 20 * time.Minute}},
		"every, after a timer": {
			[]error{operator.RequeueAfter(second)}, every, "Ready True Reconciled", []time.Duration{0, second, 20*time.Minute + second},
		},
		"every, after a wait":  {[]error{operator.Wait("Warming")}, every, "Ready False Warming", []time.Duration{0, 30 * second, 20*time.Minute + 30*second}},
		"every, after errors":  {[]error{errSecret}, every, "Ready False Error", []time.Duration{0, second, 20*time.Minute + second}},
		"every, after the end": {[]error{operator.Terminal(errSecret)}, every, "Ready False Terminal", []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				light(w, func() *operator.Controller[*lamp] {
					c := scripted(d, test.outcomes...)
					if test.define != nil {
						test.define(c)
					}

					return c
				})

				w.Create(newHeld("a", 1))
				w.Advance(500 * time.Millisecond)
				require.Equal(w, []string{test.said}, said(w, "a"))

				w.Advance(30 * time.Minute)
				require.Equal(w, test.at, d.at())
			})
		})
	}
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

// What has failed in the middle begins from the start, and what is not tried again is when something changes, or when somebody
// has everything looked at.
func TestNoPassGoesOnInTheMiddle(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		outcomes := []error{errSecret, errSecret, operator.Wait("Warming"), operator.Terminal(errSecret), operator.Terminal(errSecret), nil}

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

				err := errors.Join(c.Save(l), operator.Ensure(ctx, c, &bulb{}, func(b *bulb) { b.TypedSpec().Watts = 9 }))
				require.NoError(w, err)

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
