package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// What stands in the place of a child wakes the primary that was refused because of it once it is gone, although its labels name
// nobody, or somebody else.
func TestWhatStandsInTheWayWakesWhomItBlocked(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				return operator.Ensure(ctx, c, newPage(resource.ID(s.TypedSpec().Text)), func(p *page) { p.TypedSpec().Text = s.Metadata().ID() })
			})
			operator.Owns[*page](c)

			return c
		})

		foreign := newPage("one")

		w.Create(foreign, newSite("a", "one"))
		w.Settle()
		require.Empty(w, getPage(w, "one").TypedSpec().Text)

		w.Destroy(foreign.Metadata())
		w.Settle()
		require.Equal(w, "a", getPage(w, "one").TypedSpec().Text)

		w.Create(newSite("b", "one"))
		w.Settle()
		require.Equal(w, "a", getPage(w, "one").TypedSpec().Text)

		w.Destroy(newSite("a", "").Metadata())
		w.Settle()
		require.Equal(w, "b", getPage(w, "one").TypedSpec().Text)
	}

	controllertest.Run(t, script)
	controllertest.Explore(t, controllertest.Plan{Seeds: 100, Faults: controllertest.Storm()}, script)
}

// A status that others have torn down and hold is waited for. That is no failure, and what could not be reported is not told
// again and again either.
func TestStatusesThatAreTornDownAndHeldAreWaitedFor(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var told recorder

		startSites(w, func() operator.Definition {
			c := operator.For[*site]("sites").RecordEvents(&told).Reconcile(func(context.Context, *site, *operator.Context[*site]) error { return nil })
			operator.Status[seen, statusExtension](c)

			return c
		})
		w.Create(newSite("a", ""))
		w.Settle()

		status := at(statusType, "a")

		require.NoError(w, w.State().AddFinalizer(w.Context(), status, "somebody"))

		_, err := w.State().Teardown(w.Context(), status, state.WithTeardownOwner("sites"))
		require.NoError(w, err)

		w.WakeAll()
		w.Settle() // which it would not with a pass that fails
		w.Advance(time.Hour)
		require.Len(w, told.reasons(), 1)

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), status, "somebody"))
		w.Settle()
		siteReady(w, "a", operator.True, "Reconciled")
		require.Len(w, told.reasons(), 2)
	})
}

// A source that could not be mapped may have been anybody's: all are woken once it can be.
func TestSourcesThatCouldNotBeMappedWakeAll(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))
			operator.Watch(c, func(s *secret) []resource.ID {
				if s.TypedSpec().Sites[0] == "a" {
					panic("no")
				}

				return s.TypedSpec().Sites
			})

			return c
		})
		w.Create(newSite("a", ""), newSite("b", ""), newSecret("moves", "a"))
		w.Advance(time.Hour)
		j.taken()

		controllertest.Update(w, newSecret("moves").Metadata(), func(s *secret) { s.TypedSpec().Sites = []string{"b"} })
		w.Settle()
		require.ElementsMatch(w, []string{"a", "b"}, j.taken())

		controllertest.Update(w, newSecret("moves").Metadata(), func(s *secret) { s.TypedSpec().Sites = []string{"b", "c"} })
		w.Settle()
		require.Equal(w, []string{"b"}, j.taken())
	})
}

// hasty has a site end right before it is held for the first time, and begin again right after.
type hasty struct {
	state.CoreState

	ended *site
	done  bool
}

func (h *hasty) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if res.Metadata().Type() == siteType && !h.done {
		if err := h.Destroy(ctx, res.Metadata()); err != nil {
			return err
		}

		h.ended, h.done = newSite(res.Metadata().ID(), "again"), true
	}

	return h.CoreState.Update(ctx, res, opts...)
}

func (h *hasty) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	if ended := h.ended; ended != nil {
		h.ended = nil

		if err := h.Create(ctx, ended); err != nil {
			return nil, err
		}
	}

	return h.CoreState.Get(ctx, ptr, opts...)
}

// No handler runs for a primary that is not held, not even for one that has begun anew while its former life was to be held.
func TestPrimariesThatBeginAgainAreHeldAnew(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		w.Wrap(func(core state.CoreState) state.CoreState { return &hasty{CoreState: stampedSites(core)} })
		w.Start(func(engine controller.Engine) error {
			c := sites().Reconcile(func(_ context.Context, s *site, _ *operator.Context[*site]) error {
				require.True(w, s.Metadata().Finalizers().Has("sites"))
				require.Equal(w, "again", s.TypedSpec().Text)

				return nil
			})
			operator.Owns[*page](c)

			return operator.Register(engine, c)
		})
		w.Create(newSite("a", ""))
		w.Settle()
		require.Equal(w, "again", getSite(w, "a").TypedSpec().Text)
		require.True(w, getSite(w, "a").Metadata().Finalizers().Has("sites"))
	})
}

// A primary that does not tell what it names keeps no other from being woken, and is woken itself, as it may name what has changed.
func TestPrimariesThatDoNotTellWhatTheyName(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))
			operator.WatchNamed[*secret](c, func(s *site) []resource.ID { return s.TypedSpec().Pages[:1] })

			return c
		})
		w.Create(newSite("a", "", "one"), newSite("b", "", "two"), newSite("c", ""))
		w.Settle()
		j.taken()

		w.Create(newSecret("one"))
		w.Settle()
		require.ElementsMatch(w, []string{"a", "c"}, j.taken())
	})
}

// What is in the place of a status and belongs to somebody else is not read, not written and not removed, and the primary does not
// wait for it to go.
func TestStatusesOfOthers(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var told recorder

		startSites(w, func() operator.Definition {
			c := operator.For[*site]("sites").RecordEvents(&told)
			status := operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(_ context.Context, _ *site, c *operator.Context[*site]) error {
				require.Empty(w, status.Get(c).Text)

				return nil
			})
		})

		theirs := typed.NewResource[operator.StatusSpec[seen], statusExtension](at(statusType, "a"), operator.StatusSpec[seen]{Data: seen{"theirs"}})

		w.Create(theirs, newSite("a", ""))
		w.Advance(time.Second)
		require.Equal(w, []string{"Refused"}, told.reasons())
		require.Contains(w, told.events[0].Message, `belongs to "" and not to controller "sites": remove it`)

		_, err := w.State().Teardown(w.Context(), newSite("a", "").Metadata())
		require.NoError(w, err)
		w.Settle()

		_, err = w.State().Get(w.Context(), newSite("a", "").Metadata())
		require.True(w, state.IsNotFoundError(err))
		require.Equal(w, "theirs", getStatus(w, "a").Data.Text)
		require.Equal(w, "1", controllertest.Get[*siteStatus](w, theirs.Metadata()).Metadata().Version().String())
	})
}
