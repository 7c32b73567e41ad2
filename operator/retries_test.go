package operator_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// times are when a handler was called.
type times struct {
	mu  sync.Mutex // guards all
	all []time.Time
}

func (t *times) note() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.all = append(t.all, time.Now())
}

// count returns how many calls there were since gaps was called last.
func (t *times) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()

	return len(t.all)
}

// gaps returns the times between the calls since it was called last, in whole seconds.
func (t *times) gaps() (gaps []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()

	for i := 1; i < len(t.all); i++ {
		gaps = append(gaps, t.all[i].Sub(t.all[i-1]).Truncate(time.Second))
	}

	t.all = nil

	return gaps
}

// returning is a controller whose handler returns what the text of the site says.
func returning(calls *times, errs map[string]error, also ...func(*operator.Controller[*site])) func() operator.Definition {
	return func() operator.Definition {
		c := sites().Reconcile(func(_ context.Context, s *site, _ *operator.Context[*site]) error {
			calls.note()

			return errs[s.TypedSpec().Text]
		})
		operator.Status[seen, statusExtension](c)

		for _, say := range also {
			say(c)
		}

		return c
	}
}

// When a pass comes again is what the handler says, and else what the definition does; nobody says it of a failure.
func TestWhenAPassComesAgain(t *testing.T) {
	t.Parallel()

	minute := func(c *operator.Controller[*site]) { c.Every(time.Minute) }
	never := func(*operator.Controller[*site]) {}

	for name, test := range map[string]struct {
		say  func(*operator.Controller[*site])
		err  error
		gaps []time.Duration // in five minutes
	}{
		"never":                         {never, nil, nil},
		"every minute":                  {minute, nil, []time.Duration{time.Minute, time.Minute, time.Minute, time.Minute}},
		"as the pass says":              {never, operator.RequeueAfter(2 * time.Minute), []time.Duration{2 * time.Minute, 2 * time.Minute}},
		"as the pass says before":       {minute, operator.RequeueAfter(2 * time.Minute), []time.Duration{2 * time.Minute, 2 * time.Minute}},
		"as a wait says":                {minute, operator.Wait("Waits", operator.After(100*time.Second)), []time.Duration{100 * time.Second, 100 * time.Second}},
		"not again in spite of minutes": {minute, operator.Terminal(errors.New("no")), nil},
		"at a resync though it failed for good": {
			func(c *operator.Controller[*site]) { c.Every(time.Minute).Resync(2 * time.Minute) }, operator.Terminal(errors.New("no")),
			[]time.Duration{2 * time.Minute, 2 * time.Minute},
		},
		"at a resync": {func(c *operator.Controller[*site]) { c.Resync(2 * time.Minute) }, nil, []time.Duration{2 * time.Minute, 2 * time.Minute}},
		"each minute beside a resync": {
			func(c *operator.Controller[*site]) { c.Every(time.Minute).Resync(2 * time.Minute) }, nil,
			[]time.Duration{time.Minute, time.Minute, time.Minute, time.Minute},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.Run(t, func(w *controllertest.World) {
				var calls times

				startSites(w, returning(&calls, map[string]error{"": test.err}, test.say))
				w.Create(newSite("a", "settles"))
				w.Advance(time.Second)
				calls.gaps()

				setText(w, "a", "")
				w.Advance(5*time.Minute - 10*time.Second)
				require.Equal(w, test.gaps, calls.gaps())
			})
		})
	}
}

// A pass that has failed comes again after a backoff that grows. One that waits has not failed: it is no problem of the engine.
func TestFailuresAreTriedAgain(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var calls times

		startSites(w, returning(&calls, map[string]error{
			"fails": errors.New("no"), "waits": operator.Wait("Pending", operator.After(10*time.Second)),
		}))
		w.Create(newSite("a", "fails"))
		w.Advance(5 * time.Minute)
		require.NotEmpty(w, w.Runtime().Health().Problems())
		siteReady(w, "a", operator.False, "Error")

		gaps := calls.gaps()
		require.Greater(w, len(gaps), 3)
		require.Greater(w, gaps[len(gaps)-1], gaps[0])

		setText(w, "a", "waits")
		w.Settle()
		require.Empty(w, w.Runtime().Health().Problems())
		siteReady(w, "a", operator.False, "Pending")
	})
}

// A failure that another try does not help is not tried again, and what comes later is worked on: a change, and a resync.
func TestTerminalFailures(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var calls times

		startSites(w, returning(&calls, map[string]error{"bad": operator.Terminal(errors.New("no"))}))
		w.Create(newSite("a", "bad"))
		w.Settle()
		siteReady(w, "a", operator.False, "Terminal")
		calls.gaps()

		w.Advance(time.Hour)
		require.Zero(w, calls.count())
		require.Empty(w, w.Runtime().Health().Problems())

		w.WakeAll()
		w.Settle()
		require.Equal(w, 1, calls.count())
		siteReady(w, "a", operator.False, "Terminal")

		setText(w, "a", "good")
		w.Settle()
		siteReady(w, "a", operator.True, "Reconciled")
	})
}

// slow is a state whose writes of some resources hang until the caller gives up.
type slow struct {
	state.CoreState

	hangs func(res resource.Resource) bool
}

func (s slow) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if s.hangs(res) {
		<-ctx.Done()

		return ctx.Err()
	}

	return s.CoreState.Create(ctx, res, opts...)
}

func (s slow) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if s.hangs(res) {
		<-ctx.Done()

		return ctx.Err()
	}

	return s.CoreState.Update(ctx, res, opts...)
}

// The time of a pass bounds what handlers do, and what is written for them; a pass over its time has failed, and runs again.
func TestTimeoutBoundsThePassAndItsWrites(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		hangs  func(res resource.Resource) bool
		handle operator.Handler[*site]
	}{
		"the handler": {func(resource.Resource) bool { return false }, func(ctx context.Context, _ *site, _ *operator.Context[*site]) error {
			<-ctx.Done()

			return ctx.Err()
		}},
		"a child": {func(res resource.Resource) bool { return res.Metadata().Type() == pageType },
			func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
				return operator.Ensure(ctx, c, &page{}, nil)
			}},
		"the primary": {
			func(res resource.Resource) bool { s, ok := res.(*site); return ok && s.TypedSpec().Text == "saved" },
			func(_ context.Context, s *site, c *operator.Context[*site]) error {
				s.TypedSpec().Text = "saved"

				return c.Save(s)
			}},
		"the status": {func(res resource.Resource) bool { return res.Metadata().Type() == statusType }, handle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.Run(t, func(w *controllertest.World) {
				var (
					calls times
					fine  atomic.Bool
				)

				w.Through(func(core state.CoreState) (state.CoreState, func()) {
					return slow{core, func(res resource.Resource) bool { return !fine.Load() && test.hangs(res) }}, func() {}
				})
				startSites(w, func() operator.Definition {
					c := sites().Mutates().Timeout(20 * time.Second)
					operator.Owns[*page](c)
					operator.Status[seen, statusExtension](c)

					return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
						calls.note()

						if fine.Load() {
							return nil
						}

						return test.handle(ctx, s, c)
					})
				})
				w.Create(newSite("a", ""))
				w.Advance(19 * time.Second)
				require.Equal(w, 1, calls.count())
				w.Advance(30 * time.Second)
				require.Greater(w, calls.count(), 1, "the pass has given up, and has begun anew")

				if name != "the status" {
					siteReady(w, "a", operator.False, "Timeout")
				}

				fine.Store(true)

				w.Settle()
				siteReady(w, "a", operator.True, "Reconciled")
			})
		})
	}
}

// The end of the program is no failure: a pass that is ended by it reports nothing.
func TestEndOfTheProgramIsNoFailure(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Timeout(time.Hour)
			status := operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				if s.TypedSpec().Text == "hangs" {
					status.Set(c, func(data *seen) { data.Text = "never seen" })
					<-ctx.Done()

					return errors.Join(errors.New("gave up"), ctx.Err())
				}

				return nil
			})
		})
		w.Create(newSite("a", "good"))
		w.Settle()

		before := getStatus(w, "a")

		setText(w, "a", "hangs")
		w.Advance(time.Minute)
		w.Stop()
		require.Equal(w, before, getStatus(w, "a"))

		setText(w, "a", "good")
		w.Restart()
		w.Settle()
		siteReady(w, "a", operator.True, "Reconciled")
	})
}
