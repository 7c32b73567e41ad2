package operator_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// noted renders the events that are there, each as "Severity Action Reason Count", in order.
func noted(w *controllertest.World) []string {
	var all []string

	for _, event := range controllertest.List[*operator.EventResource](w, operatorEvents()) {
		spec := event.TypedSpec()
		all = append(all, fmt.Sprintf("%s %s %s %d", spec.Severity, spec.Action, spec.Reason, spec.Count))
	}

	slices.Sort(all)

	return all
}

// noteworthy is a controller whose handler does something with its pass.
func noteworthy(handle func(l *lamp, c *operator.Context[*lamp]) error) *operator.Controller[*lamp] {
	c, _ := lit()

	return c.Reconcile(func(_ context.Context, l *lamp, c *operator.Context[*lamp]) error { return handle(l, c) })
}

// What handlers note, what conditions change to, and what fails are events about the primary.
func TestWhatIsNoted(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			c.Stage("Glowing", func(_ context.Context, l *lamp, c *operator.StageContext) error {
				switch watts := l.TypedSpec().Watts; {
				case l.TypedSpec().Off:
					return operator.Wait("SwitchedOff", operator.After(time.Hour), operator.Message("by hand"))
				case watts > 100:
					c.Warn("TooBright", "%d W", watts)

					return operator.Terminal(errSecret)
				default:
					c.Event("Lit", "100 %")

					return nil
				}
			}, c.Stage("Screwed", fine))

			return c
		})

		created := time.Now()

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"Normal Glowing Lit 1", "Normal Glowing Reconciled 1", "Normal Screwed Reconciled 1"}, noted(w))

		for _, event := range controllertest.List[*operator.EventResource](w, operatorEvents()) {
			require.Equal(w, "lamps", event.Metadata().Owner())

			spec := *event.TypedSpec()
			require.WithinDuration(w, created, spec.First, time.Second)
			require.Equal(w, spec.First, spec.Last)

			spec.First, spec.Last = time.Time{}, time.Time{}

			if spec.Reason == "Lit" {
				require.Equal(w, operator.EventSpec{
					Severity: operator.Normal, SubjectNamespace: lampsIn, SubjectType: lampType, SubjectID: "a", SubjectUID: "uid-1",
					Controller: "lamps", Action: "Glowing", Reason: "Lit", Message: "100 %", Count: 1,
				}, spec)
			}
		}

		// The same again is suppressed for a minute, also with another message; what is new is a wait.
		change(w, "a", func(s *lampSpec) { s.Off = true })
		w.Advance(time.Second)
		require.Contains(w, noted(w), "Normal Glowing SwitchedOff 1")
		require.Len(w, noted(w), 4)

		// A failure, and not that its conditions are False. That later stages are Unknown is no event at all.
		change(w, "a", func(s *lampSpec) { s.Off, s.Watts = false, 200 })
		w.Settle()
		require.Equal(w, []string{
			"Normal Glowing Lit 1", "Normal Glowing Reconciled 1", "Normal Glowing SwitchedOff 1", "Normal Screwed Reconciled 1",
			"Warning Glowing Terminal 1", "Warning Glowing TooBright 1",
		}, noted(w))
	})
}

// An event that is repeated is recorded once a minute, whatever its message, and counted in one resource. Another reason, action,
// severity or primary is another event.
func TestRepeatedEventsAreSuppressed(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Flickers", "for the %d. time", d.add("pass"))
				c.Event("Flickers", "again")
				c.Warn("Flickers", "badly")

				return operator.RequeueAfter(20 * time.Second)
			})
		})

		w.Create(newHeld("a", 1), newHeld("b", 1))
		w.Advance(59 * time.Second)
		require.Equal(w, []string{
			"Normal Ready Reconciled 1", "Normal Ready Reconciled 1",
			"Normal Reconcile Flickers 1", "Normal Reconcile Flickers 1", "Warning Reconcile Flickers 1", "Warning Reconcile Flickers 1",
		}, noted(w))
		require.Len(w, d.at(), 6)

		w.Advance(2 * time.Second)
		require.Contains(w, noted(w), "Normal Reconcile Flickers 2")
		require.Len(w, noted(w), 6)

		w.Advance(time.Minute)
		require.Contains(w, noted(w), "Normal Reconcile Flickers 3")
	})
}

// Which events were recorded is known to the process alone, so that another one may record the same again. It is counted.
func TestSuppressionEndsWithTheProcess(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Flickers", "a little")

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(time.Second)
		require.Contains(w, noted(w), "Normal Reconcile Flickers 1")

		w.Restart()
		w.Advance(time.Second)
		require.Contains(w, noted(w), "Normal Reconcile Flickers 2")
	})
}

// A controller records few events at once, and more after a while. What is too much is dropped.
func TestEventsAreFew(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(l *lamp, c *operator.Context[*lamp]) error {
				for n := range 150 {
					c.Event(fmt.Sprintf("Reason%dOf%d", n, l.TypedSpec().Watts), "")
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(time.Second)
		require.Len(w, noted(w), 20)

		// Four more each second, and never more than at first.
		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Advance(time.Second)
		require.Len(w, noted(w), 24)

		w.Advance(time.Hour / 2)
		change(w, "a", func(s *lampSpec) { s.Watts = 3 })
		w.Advance(time.Second)
		require.Len(w, noted(w), 44)
	})
}

// Events are where their primary is.
func TestEventsAreWhereTheirPrimaryIs(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return operator.For[*lamp]("lamps").Namespace("cellar").Reconcile(
				func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
					c.Event("Lit", "")

					return nil
				})
		})

		l := newLamp("a", 1)
		*l.Metadata() = resource.NewMetadata("cellar", lampType, "a", resource.VersionUndefined)
		w.Create(l)
		w.Settle()

		cellar := resource.NewMetadata("cellar", operator.EventType, "", resource.VersionUndefined)
		events := controllertest.List[*operator.EventResource](w, cellar)
		require.Len(w, events, 1)
		require.Equal(w, "cellar", events[0].TypedSpec().SubjectNamespace)
		require.Empty(w, noted(w))
	})
}

// Old events go, an hour after they were recorded last.
func TestOldEventsAreSwept(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(l *lamp, c *operator.Context[*lamp]) error {
				c.Event("Lit", "")

				if l.TypedSpec().Watts == 1 {
					c.Event("Weak", "")
				}

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(30 * time.Minute)
		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Advance(29 * time.Minute)
		require.Equal(w, []string{"Normal Ready Reconciled 1", "Normal Reconcile Lit 2", "Normal Reconcile Weak 1"}, noted(w))

		w.Advance(2 * time.Minute)
		require.Equal(w, []string{"Normal Reconcile Lit 2"}, noted(w))

		w.Advance(30 * time.Minute)
		require.Empty(w, noted(w))
	})
}

// How long events are kept can be said.
func TestSweeperOfItsOwn(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		stamped(w)
		w.Start(func(e controller.Engine) error {
			c := noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Lit", "")

				return nil
			})

			built, err := c.Build()
			if err != nil {
				return err
			}

			return cmp.Or(e.RegisterQController(built), e.RegisterQController(operator.EventSweeper(lampsIn, time.Minute)))
		})

		w.Create(newHeld("a", 1))
		w.Advance(59 * time.Second)
		require.Len(w, noted(w), 2)

		w.Advance(2 * time.Second)
		require.Empty(w, noted(w))
	})
}

// Without events there are none, and the controller says that it writes none.
func TestEventsCanBeLeftOut(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Lit", "")
				c.Warn("Hot", "")

				return operator.Terminal(errSecret)
			}).WithoutEvents()
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Empty(w, noted(w))
	})

	require.True(t, writesEvents(t, noteworthy(nil)))
	require.False(t, writesEvents(t, noteworthy(nil).WithoutEvents()))
	require.False(t, writesEvents(t, noteworthy(nil).RecordEvents(&recorder{})))
}

func writesEvents(t *testing.T, c *operator.Controller[*lamp]) bool {
	built, err := c.Build()
	require.NoError(t, err)

	return slices.ContainsFunc(built.Settings().Outputs, func(out controller.Output) bool { return out.Type == operator.EventType })
}

// Nobody is woken by an event: what works on them, or watches them, is no controller of this package.
func TestEventsWakeNobody(t *testing.T) {
	t.Parallel()

	c := operator.For[*lamp]("lamps").Reconcile(good)
	operator.Watch(c, operator.SameID[*operator.EventResource])

	require.Equal(t, []string{
		"a watched kind is Events.switchyard.run: events are notes for people and wake nobody; watch what they are about",
	}, problems(t, c))

	c = operator.For[*lamp]("lamps").Reconcile(good)
	operator.Owns[*operator.EventResource](c)

	require.Equal(t, []string{
		"an owned kind is Events.switchyard.run: events are notes for people and wake nobody; watch what they are about",
	}, problems(t, c))

	_, err := operator.For[*operator.EventResource]("events").
		Reconcile(func(context.Context, *operator.EventResource, *operator.Context[*operator.EventResource]) error {
			return nil
		}).Build()
	require.ErrorContains(t, err,
		"the primary is Events.switchyard.run: events are notes for people and wake nobody; work on what they are about")
}

// Status and events are two writes: a process that ends between them has lost events, and nothing else.
func TestEventsComeAfterTheStatus(t *testing.T) {
	script := func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Lit", "")

				return nil
			})
		})

		w.Compare(essential)
		w.Create(newLamp("a", 1))
		w.Settle()
	}

	controllertest.CrashSweep(t, script)

	controllertest.Run(t, func(w *controllertest.World) {
		script(w)

		var writes []string

		for _, turn := range w.Trace().Turns() {
			if turn.What != "lamps: reconciles Lamps/a" {
				continue
			}

			for _, note := range turn.Notes {
				writes = append(writes, note.What[:min(len("create Events"), len(note.What))])
			}
		}

		require.Equal(w, []string{"update Lamps/", "create LampSt", "create Events", "create Events"}, writes)
	})
}

// What was not written is not announced. That it could not be written is.
func TestStatusesThatWereNotWrittenAreNotAnnounced(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		st := trouble(w)
		st.write = func(context.Context) error { return errSecret }

		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				c.Event("Lit", "")

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(500 * time.Millisecond)
		require.Equal(w, []string{"Normal Reconcile Lit 1", "Warning Status Error 1"}, noted(w))

		for _, event := range controllertest.List[*operator.EventResource](w, operatorEvents()) {
			require.NotContains(w, text(w, event), "hunter2")
		}

		st.write = nil

		w.Settle()
		require.Equal(w, []string{"Normal Ready Reconciled 1", "Normal Reconcile Lit 1", "Warning Status Error 1"}, noted(w))
	})
}
