package operator_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// noting notes the id of each site that it is called for.
func noting(j *journal) operator.Handler[*site] {
	return func(_ context.Context, s *site, _ *operator.Context[*site]) error {
		j.note("%s", s.Metadata().ID())

		return nil
	}
}

// watching wakes the sites that secrets name.
func watching(j *journal) func() operator.Definition {
	return func() operator.Definition {
		c := sites().Reconcile(noting(j))
		operator.Watch(c, func(s *secret) []resource.ID { return s.TypedSpec().Sites })

		return c
	}
}

func name(w *controllertest.World, id resource.ID, names string) {
	controllertest.Update(w, newSecret(id).Metadata(), func(s *secret) { s.TypedSpec().Sites = strings.Fields(names) })
}

// A watched resource wakes whom it names, and whom it has named before, by whatever in it they are named.
func TestWatchedResourcesWakeOldAndNew(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, watching(&j))
		w.Create(newSite("a", ""), newSite("b", ""), newSite("c", ""))
		w.Settle()
		j.taken()

		woken := func(ids ...string) {
			w.Settle()
			require.ElementsMatch(w, ids, j.taken())
		}

		w.Create(newSecret("s", "a"))
		woken("a")
		name(w, "s", "a b")
		woken("a", "b")
		name(w, "s", "c")
		woken("a", "b", "c")
		name(w, "s", "")
		woken("c")
		name(w, "s", "")
		woken()
		name(w, "s", "gone a")
		woken("a")
		w.Destroy(newSecret("s").Metadata())
		w.Settle()
		require.Contains(w, j.taken(), "a", "what is gone has been of use to somebody")
	})
}

// A resource that moves while a mapping of it is under way, or right after the start, wakes whom it has left.
func TestNobodyIsForgottenByAWatch(t *testing.T) {
	t.Parallel()

	// Each site has a page with the names of the secrets that name it, as they are at rest.
	listing := func() operator.Definition {
		c := sites()
		operator.Owns[*page](c)
		operator.Watch(c, func(s *secret) []resource.ID { return s.TypedSpec().Sites })

		return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
			all, err := operator.List[*secret](ctx, c)
			if err != nil {
				return err
			}

			var names []string

			for _, secret := range all {
				if strings.Contains(strings.Join(secret.TypedSpec().Sites, " "), s.Metadata().ID()) {
					names = append(names, secret.Metadata().ID())
				}
			}

			return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = strings.Join(names, " ") })
		})
	}

	script := func(w *controllertest.World) {
		startSites(w, listing)
		w.Create(newSite("a", ""), newSecret("s", "a"), newSecret("t", "a"), newSite("b", ""))
		name(w, "s", "b")
		name(w, "s", "a b")
		name(w, "t", "b")
		name(w, "s", "")
		w.Settle()
		require.Empty(w, getPage(w, "a").TypedSpec().Text)
		require.Equal(w, "t", getPage(w, "b").TypedSpec().Text)
	}

	controllertest.Confluent(t, 50, script)
	controllertest.CrashSweep(t, script)
	controllertest.Explore(t, controllertest.Plan{Seeds: 100, Faults: controllertest.Storm()}, script)
}

// A mapper has nothing to read with, to wait for, or to fail with: it is a function of the resource.
func TestMappersSeeTheResourceAlone(t *testing.T) {
	t.Parallel()

	require.Equal(t, reflect.TypeFor[func(*secret) []resource.ID](), reflect.TypeOf(operator.Watch[*secret]).In(1))
	require.Equal(t, reflect.TypeFor[func(*site) []resource.ID](), reflect.TypeOf(operator.WatchNamed[*secret, *site]).In(1))
}

// A mapper that panics is called again until it answers: nothing is lost by it, and everything else goes on meanwhile. All are
// woken once it does.
func TestMapperThatPanics(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		panics := make(chan struct{}, 1)

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))
			operator.Watch(c, func(s *secret) []resource.ID {
				if s.Metadata().ID() == "bad" && len(panics) > 0 {
					panic("no")
				}

				return s.TypedSpec().Sites
			})

			return c
		})
		w.Create(newSite("a", ""), newSite("b", ""))
		w.Settle()
		j.taken()

		panics <- struct{}{}

		w.Create(newSecret("bad", "a"), newSecret("good", "b"))
		w.Advance(10 * time.Second)
		require.Equal(w, []string{"b"}, j.taken())

		<-panics
		w.Settle()
		require.Equal(w, []string{"a", "b"}, j.taken())
	})
}

// What was there before the controller, and can not be mapped, is told of; when it changes, all are woken.
func TestMapperThatPanicsAtTheStart(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		w.Create(newSite("a", ""), newSite("b", ""), newSecret("s", "a"))

		panics := true

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))
			operator.Watch(c, func(s *secret) []resource.ID {
				if panics {
					panic("no")
				}

				return s.TypedSpec().Sites
			})

			return c
		})
		w.Settle()
		require.ElementsMatch(w, []string{"a", "b"}, j.taken())
		require.Equal(w, 1, strings.Count(w.Trace().String(), "it is not known which primaries depend on a resource"))

		w.Do("mends the mapper", func() { panics = false })
		controllertest.Update(w, newSecret("s").Metadata(), func(s *secret) { s.TypedSpec().Sites = []resource.ID{"b"} })
		w.Settle()
		require.ElementsMatch(w, []string{"a", "b"}, j.taken(), "a has lost something")
	})
}

// A child that changes wakes its primary, which mends it, whoever has changed it and how.
func TestChildrenWakeTheirPrimary(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, paging)
		w.Create(newSite("a", "1"), newSite("odd/id with/slashes", "2"))
		w.Settle()

		md := newPage("a").Metadata()

		controllertest.Update(w, md, func(p *page) { p.TypedSpec().Text = "drift" })
		w.Settle()
		require.Equal(w, "1", getPage(w, "a").TypedSpec().Text)

		controllertest.Update(w, newPage("odd/id with/slashes").Metadata(), func(p *page) { p.TypedSpec().Text = "drift" })
		w.Settle()
		require.Equal(w, "2", getPage(w, "odd/id with/slashes").TypedSpec().Text)

		require.NoError(w, w.State().Destroy(w.Context(), md, state.WithDestroyOwner("sites")))
		w.Settle()
		require.Equal(w, "1", getPage(w, "a").TypedSpec().Text)

		_, err := w.State().Teardown(w.Context(), md, state.WithTeardownOwner("sites"))
		require.NoError(w, err)
		w.Settle()
		require.Equal(w, resource.PhaseRunning, getPage(w, "a").Metadata().Phase(), "it is made again")
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}

// What is left of a former life of a primary does not wake the present one.
func TestChildrenOfAFormerLifeWakeNobody(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))
			operator.Owns[*page](c)

			return c
		})

		child := func(id resource.ID, uid string) *page {
			p := newPage(id)
			p.Metadata().Labels().Set(operator.ParentLabel, string(siteType)+"/"+ns+"/a")
			p.Metadata().Labels().Set(operator.ParentUIDLabel, uid)

			return p
		}

		w.Create(newSite("a", ""))
		w.Settle()
		j.taken()

		require.NoError(w, w.State().Create(w.Context(), child("mine", "uid-1"), state.WithCreateOwner("sites")))
		w.Settle()
		require.Equal(w, []string{"a"}, j.taken())

		require.NoError(w, w.State().Create(w.Context(), child("former", "uid-0"), state.WithCreateOwner("sites")))
		w.Settle()
		require.Empty(w, j.taken())

		w.Destroy(newSite("a", "").Metadata())
		w.Settle()
		controllertest.Gone(w, newPage("mine").Metadata())
		controllertest.Get[*page](w, newPage("former").Metadata())

		w.Create(newSite("a", ""))
		w.Settle()
		require.NotEmpty(w, j.taken())

		controllertest.Update(w, newPage("former").Metadata(), func(p *page) { p.TypedSpec().Text = "drift" })
		w.Settle()
		require.Empty(w, j.taken())
	})
}

// Primaries and their children may be in different namespaces, if that is said.
func TestChildrenInAnotherNamespace(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Namespace("cluster")
			operator.Owns[*page](c, operator.InNamespace(ns))

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text })
			})
		})

		md := resource.NewMetadata("cluster", siteType, "a", resource.VersionUndefined)
		s := newSite("a", "hello")
		*s.Metadata() = md
		w.Create(s)
		w.Settle()

		controllertest.Update(w, newPage("a").Metadata(), func(p *page) { p.TypedSpec().Text = "drift" })
		w.Settle()
		require.Equal(w, "hello", getPage(w, "a").TypedSpec().Text)

		w.Destroy(&md)
		w.Settle()
		controllertest.Gone(w, newPage("a").Metadata())
		controllertest.Gone(w, &md)
	})
}

// blind is a state whose watches do not show a resource, as if a cache had lost it, or it was out of its scope.
type blind struct {
	state.CoreState

	id resource.ID
}

func (b blind) hides(md *resource.Metadata) bool { return md.Type() == siteType && md.ID() == b.id }

func (b blind) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	all := make(chan []state.Event)
	if err := b.CoreState.WatchKindAggregated(ctx, kind, all, opts...); err != nil {
		return err
	}

	go func() { // ends with the watch
		for {
			select {
			case <-ctx.Done():
				return
			case events := <-all:
				var shown []state.Event

				for _, event := range events {
					if event.Resource == nil || event.Type == state.Bootstrapped || !b.hides(event.Resource.Metadata()) {
						shown = append(shown, event)
					}
				}

				if len(shown) == 0 {
					continue
				}

				select {
				case ch <- shown:
				case <-ctx.Done():
					return
				}
			}
		}
	}()

	return nil
}

// That a primary is missing in the cache is no reason to clean up after it: what is decided is decided by the state.
func TestAbsenceFromACacheIsNoProof(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var (
			j      journal
			hidden resource.ID
		)

		w.Configure(func(cfg *runtime.Config) { cfg.Options = []options.Option{safe.WithResourceCache[*site]()} })
		w.Through(func(core state.CoreState) (state.CoreState, func()) { return blind{core, hidden}, func() {} })

		startSites(w, func() operator.Definition {
			c := sites()
			operator.Owns[*page](c)
			c.Finalize("example.com/outside", func(context.Context, *site, *operator.StageContext) error {
				j.note("cleanup")

				return nil
			})

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				_, err := operator.Cached[*site](ctx, c, s.Metadata().ID())
				j.note("cached: %v", !state.IsNotFoundError(err))

				return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text })
			})
		})
		w.Create(newSite("a", "hello"))
		w.Settle()
		require.Contains(w, j.taken(), "cached: true")

		w.Stop()

		hidden = "a"

		w.Restart()
		w.Settle()
		j.taken()

		controllertest.Update(w, newPage("a").Metadata(), func(p *page) { p.TypedSpec().Text = "drift" })
		w.Settle()
		require.Equal(w, []string{"cached: false"}, slices.Compact(j.taken()))
		require.Equal(w, "hello", getPage(w, "a").TypedSpec().Text)
		require.True(w, getSite(w, "a").Metadata().Finalizers().Has("example.com/outside"))
	})
}
