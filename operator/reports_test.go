package operator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

func condition(w *controllertest.World, id resource.ID, name string) operator.Condition {
	c, ok := status(w, id).Conditions.Get(name)
	require.True(w, ok, name)

	return c
}

func statusVersion(w *controllertest.World, id resource.ID) string {
	return controllertest.Get[*lampStatus](w, statusOf(id)).Metadata().Version().String()
}

// A condition tells which generation was looked at, and since when it is what it is: a new reason, message or generation does
// not move that, and nothing new is not written.
func TestConditionsTellSinceWhen(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()
			c.Stage("Glowing", func(_ context.Context, l *lamp, c *operator.StageContext) error {
				glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts })

				switch {
				case l.TypedSpec().Off:
					return operator.Wait("Off", operator.After(time.Hour), operator.Message("at %d", l.TypedSpec().Watts))
				case l.TypedSpec().Watts == 0:
					return operator.Terminal(errSecret)
				default:
					return nil
				}
			})

			return c
		})

		created := time.Now()

		w.Create(newHeld("a", 1))
		w.Settle()

		begin := condition(w, "a", "Glowing")
		require.Equal(w, operator.True, begin.Status)
		require.EqualValues(w, 1, begin.ObservedGeneration)
		require.WithinDuration(w, created, begin.LastTransitionTime, time.Second)
		require.Equal(w, time.UTC, begin.LastTransitionTime.Location())
		require.Equal(w, "uid-1", status(w, "a").SubjectUID)

		// Nothing new.
		version := statusVersion(w, "a")

		controllertest.Update(w, newLamp("a", 0).Metadata(), func(l *lamp) { l.Metadata().Labels().Set("room", "kitchen") })
		w.Settle()
		w.WakeAll()
		w.Settle()
		w.Restart()
		w.Settle()
		require.Equal(w, version, statusVersion(w, "a"))

		// A generation.
		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()

		next := condition(w, "a", "Glowing")
		require.EqualValues(w, 2, next.ObservedGeneration)
		require.Equal(w, begin.LastTransitionTime, next.LastTransitionTime)
		require.EqualValues(w, 2, status(w, "a").ObservedGeneration)

		// A status.
		changed := time.Now()

		change(w, "a", func(s *lampSpec) { s.Off = true })
		w.Advance(time.Minute)

		off := condition(w, "a", "Glowing")
		require.Equal(w, "False Off at 2", string(off.Status)+" "+off.Reason+" "+off.Message)
		require.WithinDuration(w, changed, off.LastTransitionTime, time.Second)
		require.Equal(w, off.LastTransitionTime, condition(w, "a", operator.Ready).LastTransitionTime)

		// A message, and then a reason. What was looked at without success was looked at.
		change(w, "a", func(s *lampSpec) { s.Watts = 3 })
		w.Advance(time.Minute)
		require.Equal(w, "at 3", condition(w, "a", "Glowing").Message)
		require.Equal(w, off.LastTransitionTime, condition(w, "a", "Glowing").LastTransitionTime)

		change(w, "a", func(s *lampSpec) { s.Off, s.Watts = false, 0 })
		w.Settle()

		broken := condition(w, "a", "Glowing")
		require.Equal(w, "False Terminal Glowing: Terminal", string(broken.Status)+" "+broken.Reason+" "+broken.Message)
		require.Equal(w, off.LastTransitionTime, broken.LastTransitionTime)
		require.EqualValues(w, 5, status(w, "a").ObservedGeneration)
	})
}

// Handlers set what is theirs: the data, and conditions of other names than those that are reported by themselves. What they do
// not set stays as it was.
func TestHandlersSetWhatIsTheirs(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		var handle func(c *operator.Context[*lamp], glows *operator.StatusOf[glow]) error

		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error { return handle(c, glows) })
		})

		again := func() {
			w.WakeAll()
			w.Settle()
		}

		handle = func(c *operator.Context[*lamp], glows *operator.StatusOf[glow]) error {
			require.Equal(w, glow{}, glows.Get(c), "the empty status is there")

			_, known := c.GetCondition(operator.Ready)
			require.False(w, known)

			glows.Set(c, func(g *glow) { g.Lumen, g.Hues = 5, []string{"red"} })
			c.Condition("Screwed", operator.False, "Loose", "by %d turns", 2)

			return nil
		}

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, glow{Lumen: 5, Hues: []string{"red"}}, status(w, "a").Data)
		require.Equal(w, "by 2 turns", condition(w, "a", "Screwed").Message)

		// Part of it.
		handle = func(c *operator.Context[*lamp], glows *operator.StatusOf[glow]) error {
			got := glows.Get(c)
			require.Equal(w, []string{"red"}, got.Hues)

			got.Hues[0] = "blue" // a copy

			found, known := c.GetCondition("Screwed")
			require.True(w, known)

			found.Status = operator.True // as well

			glows.Set(c, func(g *glow) { g.Lumen = 6 })
			require.Equal(w, 6, glows.Get(c).Lumen)

			return nil
		}

		again()
		require.Equal(w, glow{Lumen: 6, Hues: []string{"red"}}, status(w, "a").Data)
		require.Equal(w, []string{"Screwed False Loose", "Ready True Reconciled"}, said(w, "a"))

		// The same condition several times is one.
		handle = func(c *operator.Context[*lamp], _ *operator.StatusOf[glow]) error {
			c.Condition("Screwed", operator.False, "Looser", "")
			c.Condition("Screwed", operator.True, "Tight", "")

			return nil
		}

		again()
		require.Equal(w, []string{"Screwed True Tight", "Ready True Reconciled"}, said(w, "a"))

		// What is set stays, also where the pass fails.
		handle = func(c *operator.Context[*lamp], glows *operator.StatusOf[glow]) error {
			glows.Set(c, func(g *glow) { g.Lumen = 7 })
			c.Condition("Screwed", operator.Unknown, "Dark", "")

			return operator.Terminal(errSecret)
		}

		again()
		require.Equal(w, 7, status(w, "a").Data.Lumen)
		require.Equal(w, []string{"Screwed Unknown Dark", "Ready False Terminal"}, said(w, "a"))
	})
}

// What handlers may not set fails their pass, for good, and says so.
func TestConditionsThatHandlersMayNotSet(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(c *operator.StageContext)
		want string
	}{
		"Ready": {func(c *operator.StageContext) { c.Condition(operator.Ready, operator.True, "Mine", "") },
			`condition "Ready" is reported by itself: return Wait or an error instead, or set one of another name`},
		"that of a stage": {func(c *operator.StageContext) { c.Condition("Last", operator.True, "Mine", "") },
			`condition "Last" is reported by itself: return Wait or an error instead, or set one of another name`},
		"no word": {func(c *operator.StageContext) { c.Condition("not a word", operator.True, "Mine", "") },
			`condition "not a word" is no word: begin with a letter, go on with letters, digits and '_', at most 128`},
		"no status": {func(c *operator.StageContext) { c.Condition("Screwed", "maybe", "Mine", "") },
			`condition "Screwed" is "maybe": say True, False or Unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				light(w, func() *operator.Controller[*lamp] {
					c, _ := lit()
					c.Stage("Last", fine, c.Stage("First", func(_ context.Context, _ *lamp, c *operator.StageContext) error {
						test.set(c)

						return nil
					}))

					return c
				})

				w.Create(newHeld("a", 1))
				w.Settle()
				require.Equal(w, []string{"First False Refused", "Last Unknown DependencyNotReady", "Ready False Refused"}, said(w, "a"))
				require.Equal(w, "First: "+test.want, condition(w, "a", operator.Ready).Message)
			})
		})
	}
}

// A condition needs a status to stand in. What is wrong is told beside the error that the handler returns, and it is not tried
// again, whatever that is.
func TestConditionsNeedAStatus(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c := operator.For[*lamp]("lamps")

			return c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				_, known := c.GetCondition("Screwed")
				require.False(w, known)

				d.add("pass")
				c.Condition("Screwed", operator.True, "Tight", "")

				return errSecret
			})
		})

		w.Create(newLamp("a", 1))
		w.Settle()
		require.Equal(w, []string{"pass"}, d.take())
		require.Equal(w, []string{"Warning Reconcile Refused 1"}, noted(w))
		require.Equal(w, `Reconcile: condition "Screwed" has no status to stand in: declare one with Status`,
			controllertest.List[*operator.EventResource](w, operatorEvents())[0].TypedSpec().Message)
	})
}

// A handle of a status belongs to its controller.
func TestStatusesAreSetInPassesOfTheirController(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		stamped(w)
		w.Start(func(e controller.Engine) error {
			_, foreign := lit()
			c, own := lit()

			return operator.Register(e, c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				foreign.Set(c, func(g *glow) { g.Lumen = 1 })
				require.Zero(w, foreign.Get(c))
				own.Set(c, func(g *glow) { g.Lumen = 2 })

				return nil
			}))
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, 2, status(w, "a").Data.Lumen)
		require.Equal(w, []string{"Ready False Refused"}, said(w, "a"))
	})
}

// Without conditions a status says what handlers set and what was looked at, and without a status nothing is said.
func TestReportsAreAskedFor(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.WithoutConditions().Reconcile(func(_ context.Context, l *lamp, c *operator.Context[*lamp]) error {
				glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts })

				if l.TypedSpec().Off {
					return operator.Terminal(errSecret)
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, operator.StatusSpec[glow]{SubjectUID: "uid-1", ObservedGeneration: 1, Data: glow{Lumen: 1}}, *status(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Watts, s.Off = 2, true })
		w.Settle()
		require.Equal(w, operator.StatusSpec[glow]{SubjectUID: "uid-1", ObservedGeneration: 2, Data: glow{Lumen: 2}}, *status(w, "a"))
	})

	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return operator.For[*lamp]("lamps").WithoutEvents().Reconcile(func(context.Context, *lamp, *operator.Context[*lamp]) error {
				return operator.Terminal(errSecret)
			})
		})

		w.Create(newLamp("a", 1))
		w.Settle()
		require.Empty(w, controllertest.List[*lampStatus](w, statusOf("")))
		require.Equal(w, "1", controllertest.Get[*lamp](w, newLamp("a", 0).Metadata()).Metadata().Version().String())
	})

	none := func() *operator.Controller[*lamp] { return operator.For[*lamp]("lamps").Reconcile(good) }

	require.Equal(t, []string{"WithoutConditions is of no use without a status: leave it out, or declare one with Status"},
		problems(t, none().WithoutConditions()))
	require.Equal(t, []string{"StatusUpdates is of no use without a status: declare it with Status before, or leave this out"},
		problems(t, none().StatusUpdates()))
}

// A status that is written wakes who watches it, and not its own controller, unless that says so. All else that a primary
// depends on wakes it.
func TestWhatAStatusWakes(t *testing.T) {
	for name, wakesItself := range map[string]bool{"others": false, "its own controller as well": true} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				stamped(w)
				w.Start(func(e controller.Engine) error {
					c, glows := lit()
					operator.Owns[*bulb](c)

					if wakesItself {
						c.StatusUpdates()
					}

					c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
						d.add("lamps")
						glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts })

						return operator.Ensure(ctx, c, &bulb{}, func(b *bulb) { b.TypedSpec().Watts = l.TypedSpec().Watts })
					})

					watching := operator.For[*lamp]("watching")
					operator.Watch(watching, operator.SameID[*lampStatus])
					watching.Reconcile(func(context.Context, *lamp, *operator.Context[*lamp]) error {
						d.add("watching")

						return nil
					})

					return operator.Register(e, c, watching)
				})

				w.Create(newHeld("a", 1))
				w.Settle()
				d.take()

				controllertest.Update(w, statusOf("a"), func(s *lampStatus) { s.TypedSpec().Data.Lumen = 100 })
				w.Settle()

				if !wakesItself {
					require.Equal(w, []string{"watching"}, d.take())
					require.Equal(w, 100, status(w, "a").Data.Lumen)

					// All else is an input as before: a child, metadata, the spec.
					controllertest.Update(w, newBulb("a", 0).Metadata(), func(b *bulb) { b.TypedSpec().Watts = 100 })
					w.Settle()
					require.Contains(w, d.take(), "lamps")
					require.Equal(w, 1, controllertest.Get[*bulb](w, newBulb("a", 0).Metadata()).TypedSpec().Watts)

					controllertest.Update(w, newLamp("a", 0).Metadata(), func(l *lamp) { l.Metadata().Labels().Set("room", "kitchen") })
					w.Settle()
					require.Contains(w, d.take(), "lamps")

					return
				}

				require.Subset(w, d.take(), []string{"lamps", "watching"})
				require.Equal(w, 1, status(w, "a").Data.Lumen)
			})
		})
	}
}

// interloper writes statuses in the name of their controller, from within its passes.
type interloper struct{ core state.CoreState }

func intrude(w *controllertest.World) *interloper {
	i := &interloper{}
	w.Wrap(func(core state.CoreState) state.CoreState {
		i.core = core

		return core
	})

	return i
}

// change writes a status over what is there.
func (i *interloper) change(id resource.ID, change func(*operator.StatusSpec[glow])) error {
	_, err := state.WrapCore(i.core).UpdateWithConflicts(context.Background(), statusOf(id), func(res resource.Resource) error {
		change(res.(*lampStatus).TypedSpec())

		return nil
	}, state.WithUpdateOwner("lamps"))

	return err
}

// A status that somebody else has written meanwhile is not written over: the whole pass runs again, on what is there then.
func TestStatusesAreNotWrittenOverOthers(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		other := intrude(w)

		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
				n := d.add("pass")

				switch n {
				case 0:
					// Somebody makes the status first.
					res := newLampStatus(l.Metadata().ID(), operator.StatusSpec[glow]{SubjectUID: "uid-1", Data: glow{Hues: []string{"red"}}})
					require.NoError(w, other.core.Create(ctx, res, state.WithCreateOwner("lamps")))
				case 2:
					require.NoError(w, other.change(l.Metadata().ID(), func(s *operator.StatusSpec[glow]) { s.Data.Hues = []string{"blue"} }))
				}

				glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts * 10 })

				if n > 1 {
					return operator.Terminal(errSecret)
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []time.Duration{0, time.Second}, d.at())
		require.Equal(w, glow{Lumen: 10, Hues: []string{"red"}}, status(w, "a").Data)

		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()
		require.Len(w, d.take(), 4, "once more, though it was of no use to try again")
		require.Equal(w, glow{Lumen: 20, Hues: []string{"blue"}}, status(w, "a").Data)
		require.Equal(w, []string{"Ready False Terminal"}, said(w, "a"))
	})
}

// A conflict that a handler meets says nothing of the primary, so it is not reported: the pass runs again. One that is said to be
// of no use to try again is a failure like any other.
func TestConflictsAreNotReportedUnlessTheyAreTerminal(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.Reconcile(func(ctx context.Context, l *lamp, c *operator.Context[*lamp]) error {
				glows.Set(c, func(g *glow) { g.Lumen++ })

				switch d.add("pass") {
				case 1:
					return &conflicted{l.Metadata()}
				case 3:
					return operator.Terminal(&conflicted{l.Metadata()})
				default:
					return nil
				}
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()

		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Advance(500 * time.Millisecond)
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, 2, status(w, "a").Data.Lumen, "what was set was set")

		w.Settle()
		require.Len(w, d.at(), 3)

		change(w, "a", func(s *lampSpec) { s.Watts = 3 })
		w.Settle()
		require.Equal(w, []string{"Ready False Conflict"}, said(w, "a"))
		require.Len(w, d.at(), 4)
	})
}

// conflicted is a conflict as states return them.
type conflicted struct{ resource resource.Pointer }

func (*conflicted) Error() string                   { return "somebody was faster: hunter2" }
func (*conflicted) ConflictError()                  {}
func (c *conflicted) GetResource() resource.Pointer { return c.resource }

// What was said of a former life of a primary is not said of this one, and not counted.
func TestStatusesOfFormerLives(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		old := newLampStatus("a", operator.StatusSpec[glow]{
			SubjectUID: "uid-0", ObservedGeneration: 7,
			Conditions: operator.Conditions{
				{Type: operator.Ready, Status: operator.True, Reason: "Reconciled", LastTransitionTime: time.Now().Add(-time.Hour)},
				{Type: "Screwed", Status: operator.True},
			},
			Data: glow{Lumen: 77, Hues: []string{"old"}},
		})

		stamped(w)
		require.NoError(w, w.State().Create(w.Context(), old, state.WithCreateOwner("lamps")))
		w.Start(func(e controller.Engine) error {
			c, glows := lit()

			return operator.Register(e, c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				require.Zero(w, glows.Get(c))

				_, known := c.GetCondition("Screwed")
				require.False(w, known)

				return nil
			}))
		})

		began := time.Now()

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, "uid-1", status(w, "a").SubjectUID)
		require.EqualValues(w, 1, status(w, "a").ObservedGeneration)
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.False(w, condition(w, "a", operator.Ready).LastTransitionTime.Before(began))
		require.Zero(w, status(w, "a").Data)

		// A life after another: the status goes with the first.
		w.Destroy(newLamp("a", 0).Metadata())
		w.Settle()
		controllertest.Gone(w, statusOf("a"))
		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, "uid-2", status(w, "a").SubjectUID)
	})
}

// A primary goes once nobody holds its status any more, at once and not at the next look.
func TestStatusesThatAreHeldKeepThePrimary(t *testing.T) {
	for name, define := range map[string]func(*operator.Controller[*lamp]){
		"nothing else":        func(*operator.Controller[*lamp]) {},
		"with status updates": func(c *operator.Controller[*lamp]) { c.StatusUpdates() },
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)

				light(w, func() *operator.Controller[*lamp] {
					c, glows := lit()
					define(c)
					c.Finalize("lamps", func(_ context.Context, _ *lamp, c *operator.StageContext) error {
						d.add("finalize")
						glows.Set(c, func(g *glow) { g.Lumen = 0 })

						return nil
					})

					return c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
						glows.Set(c, func(g *glow) { g.Lumen = 1 })

						return nil
					})
				})

				w.Create(newHeld("a", 1))
				w.Settle()
				require.NoError(w, w.State().AddFinalizer(w.Context(), statusOf("a"), "somebody"))
				w.Settle()
				w.Destroy(newLamp("a", 0).Metadata())
				w.Advance(5 * time.Minute)

				held := controllertest.Get[*lampStatus](w, statusOf("a"))
				require.Equal(w, resource.PhaseTearingDown, held.Metadata().Phase())
				require.Equal(w, 1, held.TypedSpec().Data.Lumen, "what is on its way out is not written any more")
				require.True(w, controllertest.Get[*lamp](w, newLamp("a", 0).Metadata()).Metadata().Finalizers().Has("lamps"))
				require.Greater(w, len(d.take()), 5, "it looks each 30 s")

				require.NoError(w, w.State().RemoveFinalizer(w.Context(), statusOf("a"), "somebody"))
				w.Advance(time.Second)
				controllertest.Gone(w, statusOf("a"))
				controllertest.Gone(w, newLamp("a", 0).Metadata())
			})
		})
	}
}

// A status that somebody tears down while its primary is there is made again, once nobody holds it.
func TestStatusesThatAreTornDownAreMadeAgain(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()

			return c.Reconcile(good)
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.NoError(w, w.State().AddFinalizer(w.Context(), statusOf("a"), "somebody"))

		_, err := w.State().Teardown(w.Context(), statusOf("a"), state.WithTeardownOwner("lamps"))
		require.NoError(w, err)

		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Advance(time.Minute)
		require.EqualValues(w, 1, status(w, "a").ObservedGeneration)

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), statusOf("a"), "somebody"))
		w.Settle()
		require.EqualValues(w, 2, status(w, "a").ObservedGeneration)
		require.Equal(w, resource.PhaseRunning, controllertest.Get[*lampStatus](w, statusOf("a")).Metadata().Phase())
	})
}

// A primary without stamps has the generation 0, and its lives are told apart by when they began.
func TestPrimariesWithoutStamps(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		w.Start(func(e controller.Engine) error {
			c, _ := lit()

			return operator.Register(e, c.Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				require.Zero(w, c.Generation())

				return nil
			}))
		})

		w.Create(newHeld("a", 1))
		w.Settle()

		l := controllertest.Get[*lamp](w, newLamp("a", 0).Metadata())
		require.Equal(w, operator.Incarnation(l), status(w, "a").SubjectUID)
		require.NotEmpty(w, status(w, "a").SubjectUID)
		require.Zero(w, status(w, "a").ObservedGeneration)
		require.Zero(w, condition(w, "a", operator.Ready).ObservedGeneration)
	})
}

// A view tells whether what was said of a primary is said of it as it is now.
func TestViews(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, glows := lit()

			return c.Reconcile(func(_ context.Context, l *lamp, c *operator.Context[*lamp]) error {
				glows.Set(c, func(g *glow) { g.Lumen = l.TypedSpec().Watts })

				return nil
			})
		})

		w.Create(newHeld("a", 1))

		l := controllertest.Get[*lamp](w, newLamp("a", 0).Metadata())
		require.Equal(w, operator.View[*lamp, glow]{Primary: l, Stale: true}, operator.Joined[*lamp, glow, lampStatusExtension](l, nil))

		w.Settle()

		s := controllertest.Get[*lampStatus](w, statusOf("a"))
		require.Equal(w, operator.View[*lamp, glow]{Primary: l, Status: *s.TypedSpec()}, operator.Joined(l, s))

		change(w, "a", func(s *lampSpec) { s.Watts = 2 })

		l = controllertest.Get[*lamp](w, newLamp("a", 0).Metadata())
		require.True(w, operator.Joined(l, s).Stale)
		require.Equal(w, 1, operator.Joined(l, s).Status.Data.Lumen)

		s.TypedSpec().SubjectUID = "uid-0"
		require.Equal(w, operator.View[*lamp, glow]{Primary: l, Stale: true}, operator.Joined(l, s), "it was another one")
	})
}

// The text of an error may hold what is not for everybody. It stays in the log, unless the error says what it tells.
func TestTextsOfErrorsStayInTheLog(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"plain":                    {errSecret, "Error First: Error"},
		"terminal":                 {operator.Terminal(errSecret), "Terminal First: Terminal"},
		"a type":                   {&BurntOutError{"hunter2"}, "BurntOutError First: BurntOutError"},
		"a type inside":            {errors.Join(errors.Join(&BurntOutError{"hunter2"})), "BurntOutError First: BurntOutError"},
		"a type with arguments":    {&Wrapped[lampSpec]{errSecret}, "Wrapped First: Wrapped"},
		"what it tells":            {&told{"hunter2"}, "Dimmed First: ask the janitor"},
		"what one inside tells":    {operator.Terminal(errors.Join(errSecret, &told{"hunter2"})), "Dimmed First: ask the janitor"},
		"a reason that is no word": {&rambling{}, "Error First: Error"},
		"out of time":              {context.DeadlineExceeded, "Timeout First: Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				light(w, func() *operator.Controller[*lamp] {
					c, _ := lit()
					c.Stage("First", func(context.Context, *lamp, *operator.StageContext) error { return test.err })
					c.Finalize("lamps", func(context.Context, *lamp, *operator.StageContext) error { return test.err })

					return c
				})

				w.Create(newHeld("a", 1))
				w.Advance(500 * time.Millisecond)

				first := condition(w, "a", "First")
				require.Equal(w, test.want, first.Reason+" "+first.Message)
				requireNoSecrets(w)
				require.Contains(w, w.Trace().String(), test.err.Error(), "the log has it")

				w.Destroy(newLamp("a", 0).Metadata())
				w.Advance(500 * time.Millisecond)
				require.Contains(w, condition(w, "a", operator.Ready).Message, "Finalize: ")
				requireNoSecrets(w)
			})
		})
	}
}

func requireNoSecrets(w *controllertest.World) {
	events := controllertest.List[*operator.EventResource](w, operatorEvents())
	require.NotEmpty(w, events)

	var all []resource.Resource

	for _, event := range events {
		all = append(all, event)
	}

	for _, res := range append(all, controllertest.Get[*lampStatus](w, statusOf("a"))) {
		require.NotContains(w, text(w, res), "hunter2")
	}
}

// BurntOutError is an error with an exported type.
type BurntOutError struct{ secret string }

func (e *BurntOutError) Error() string { return e.secret }

// Wrapped is one with arguments.
type Wrapped[T any] struct{ error }

// told is an error that says what it tells everybody.
type told struct{ secret string }

func (e *told) Error() string { return e.secret }
func (*told) Reason() string  { return "Dimmed" }
func (*told) Public() string  { return "ask the janitor" }

// rambling is an error with a reason that is not one.
type rambling struct{}

func (*rambling) Error() string  { return "hunter2" }
func (*rambling) Reason() string { return "hunter2 and more words" }
