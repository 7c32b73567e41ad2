package operator_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// recorder keeps events, after it has done something else.
type recorder struct {
	before func(ctx context.Context, e operator.Event) error

	// mu guards what follows.
	mu     sync.Mutex
	events []operator.Event
}

func (r *recorder) Record(ctx context.Context, e operator.Event) error {
	if r.before != nil {
		if err := r.before(ctx, e); err != nil {
			return err
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.events = append(r.events, e)

	return nil
}

// reasons returns those of the events that were kept.
func (r *recorder) reasons() []string {
	r.mu.Lock()
	defer r.mu.Unlock()

	var all []string
	for _, e := range r.events {
		all = append(all, e.Reason)
	}

	return all
}

// announcing is a controller that notes events A, B and C in each pass and has them taken by a recorder.
func announcing(d *diary, r *recorder) *operator.Controller[*lamp] {
	c, _ := lit()

	return c.RecordEvents(r).Reconcile(func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
		d.add("pass")

		for _, reason := range []string{"A", "B", "C"} {
			c.Event(reason, "")
		}

		return nil
	})
}

// A recorder of the host gets events in place of the state, in order, after the status was written.
func TestRecordersOfTheHost(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		r := &recorder{before: func(_ context.Context, e operator.Event) error {
			require.Equal(w, []string{"Ready True Reconciled"}, said(w, e.Subject.ID()))

			return nil
		}}

		light(w, func() *operator.Controller[*lamp] { return announcing(newDiary(w), r) })

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"A", "B", "C", "Reconciled"}, r.reasons())
		require.Empty(w, noted(w))

		first := r.events[0]
		require.Equal(w, []string{lampsIn, lampType, "a"}, []string{first.Subject.Namespace(), first.Subject.Type(), first.Subject.ID()})
		require.WithinDuration(w, time.Now(), first.Time, 2*time.Minute)

		first.Subject, first.Time = nil, time.Time{}
		require.Equal(w, operator.Event{
			Severity: operator.Normal, SubjectUID: "uid-1", Controller: "lamps", Action: "Reconcile", Reason: "A",
		}, first)
	})
}

// What goes wrong with events is in the log, and has no other consequence: the pass has done what it has, and does not run again.
func TestRecordersThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		before func(ctx context.Context, e operator.Event) error
		want   []string // what is kept
		log    string
		takes  time.Duration
	}{
		"an error": {func(_ context.Context, e operator.Event) error {
			if e.Reason == "B" {
				return errSecret
			}

			return nil
		}, []string{"A", "C", "Reconciled"}, "an event was not recorded", 0},
		"a panic": {func(_ context.Context, e operator.Event) error {
			if e.Reason == "B" {
				panic(errSecret)
			}

			return nil
		}, []string{"A", "C", "Reconciled"}, "an event was not recorded", 0},
		"it hangs": {func(ctx context.Context, e operator.Event) error {
			if e.Reason == "B" {
				<-ctx.Done()

				return ctx.Err()
			}

			return nil
		}, []string{"A"}, "events were dropped: there were too many, or recording them took too long events=3", 2 * time.Second},
		"it has a limit of its own for each": {func(ctx context.Context, e operator.Event) error {
			ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
			defer cancel()

			if e.Reason == "B" {
				<-ctx.Done()
			}

			return ctx.Err()
		}, []string{"A", "C", "Reconciled"}, "an event was not recorded", 500 * time.Millisecond},
		"each takes a while": {func(ctx context.Context, _ operator.Event) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(800 * time.Millisecond):
				return nil
			}
		}, []string{"A", "B"}, "events were dropped: there were too many, or recording them took too long events=2", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				d := newDiary(w)
				r := &recorder{before: test.before}

				light(w, func() *operator.Controller[*lamp] { return announcing(d, r).Timeout(time.Second) })

				w.Create(newHeld("a", 1), newHeld("b", 1))
				w.Settle()
				require.Equal(w, []string{"pass", "pass"}, d.take())

				var kept []string

				for _, e := range r.events {
					if e.Subject.ID() == "a" {
						kept = append(kept, e.Reason)
					}
				}

				require.Equal(w, test.want, kept)
				require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
				require.Contains(w, w.Trace().String(), test.log)
				// The next primary waits for the worker, and no longer than that.
				require.Equal(w, test.takes, condition(w, "b", operator.Ready).LastTransitionTime.Sub(
					condition(w, "a", operator.Ready).LastTransitionTime).Round(100*time.Millisecond))
			})
		})
	}
}

// How long recording may take can be said. It takes nothing from the time of the pass.
func TestTimeForEventsIsItsOwn(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)
		r := &recorder{}
		r.before = func(ctx context.Context, _ operator.Event) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(3 * time.Second):
				return nil
			}
		}

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()

			return c.RecordEvents(r).EventFlush(time.Minute).Timeout(time.Second).Reconcile(
				func(_ context.Context, _ *lamp, c *operator.Context[*lamp]) error {
					d.add("pass")
					takes(900 * time.Millisecond)
					c.Event("A", "")
					c.Event("B", "")

					return nil
				})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"A", "B", "Reconciled"}, r.reasons())
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, []string{"pass"}, d.take())
	})
}

// Of one pass a hundred events are kept. What is more is dropped and counted, and nobody waits.
func TestEventsOfAPassAreBounded(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		began := time.Now()

		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				for n := range 250 {
					c.Event(fmt.Sprint("Reason", n), "")
				}

				return operator.Terminal(errSecret)
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		// 150 of the handler, and that it has failed.
		require.Contains(w, w.Trace().String(), "events were dropped: there were too many, or recording them took too long events=151")
		require.Equal(w, []string{"Ready False Terminal"}, said(w, "a"))
		require.WithinDuration(w, began, condition(w, "a", operator.Ready).LastTransitionTime, time.Second)
	})
}

// eventless is a state that takes no events.
type eventless struct{ state.CoreState }

// Create implements [state.CoreState].
func (s *eventless) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if res.Metadata().Type() == operator.EventType {
		return errSecret
	}

	return s.CoreState.Create(ctx, res, opts...)
}

// Events that can not be written do not have a pass run again, nor keep a primary from going.
func TestEventsThatCanNotBeWritten(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		w.Wrap(func(core state.CoreState) state.CoreState { return &eventless{core} })
		light(w, func() *operator.Controller[*lamp] {
			return noteworthy(func(_ *lamp, c *operator.Context[*lamp]) error {
				d.add("pass")
				c.Event("Lit", "")

				return nil
			})
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"pass"}, d.take())
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, 2, strings.Count(w.Trace().String(), "an event was not recorded"))

		w.Destroy(newLamp("a", 0).Metadata())
		w.Settle()
		controllertest.Gone(w, newLamp("a", 0).Metadata())
	})
}

// What recorders are told is checked with the definition.
func TestRecordersAreChecked(t *testing.T) {
	t.Parallel()

	require.Equal(t, []string{
		"RecordEvents(nil): give it a recorder, or say WithoutEvents",
		"EventFlush(0s): give it more than 0, or say WithoutEvents",
	}, problems(t, noteworthy(nil).RecordEvents(nil).EventFlush(0)))
}
