package operator_test

import (
	"context"
	"errors"
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

// paging has a page for each site, with its text. There is nothing more to a controller than this.
func paging() operator.Definition {
	c := sites()
	operator.Owns[*page](c)

	return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
		return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text })
	})
}

// lifeOfASite is what users do to one, with rests in between.
func lifeOfASite(w *controllertest.World) {
	startSites(w, paging)
	w.Create(newSite("a", "hello"), newSite("b", ""))
	w.Settle()
	require.Equal(w, "hello", getPage(w, "a").TypedSpec().Text)

	setText(w, "a", "bye")
	w.Settle()
	require.Equal(w, "bye", getPage(w, "a").TypedSpec().Text)

	w.Destroy(newSite("a", "").Metadata())
	w.Settle()
	controllertest.Gone(w, newPage("a").Metadata())
	controllertest.Gone(w, newSite("a", "").Metadata())
	require.Empty(w, getPage(w, "b").TypedSpec().Text)
}

// One function is a controller, and stands everything that controllers have to stand.
func TestOneFunctionIsAController(t *testing.T) {
	t.Parallel()

	hurried := func(w *controllertest.World) {
		startSites(w, paging)
		w.Create(newSite("a", "hello"), newSite("b", ""))
		setText(w, "b", "hello")
		w.Destroy(newSite("a", "").Metadata())
		w.Settle()
		controllertest.Gone(w, newPage("a").Metadata())
		require.Equal(w, "hello", getPage(w, "b").TypedSpec().Text)
	}

	controllertest.CrashSweep(t, lifeOfASite)
	controllertest.AssertIdempotent(t, lifeOfASite)
	controllertest.Confluent(t, 20, hurried)
	controllertest.Explore(t, controllertest.Plan{Seeds: 50, Faults: controllertest.Storm()}, hurried)
}

// A pass that ends between two writes of a child is made up for by the next one.
func TestChildrenThatWereHalfMade(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites()
			operator.Owns[*page](c)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				for _, id := range s.TypedSpec().Pages {
					if err := operator.Ensure(ctx, c, newPage(id), func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text }); err != nil {
						return err
					}
				}

				return operator.Prune[*page](ctx, c, s.TypedSpec().Pages...)
			})
		})
		w.Create(newSite("a", "1", "x", "y", "z"))
		w.Settle()
		controllertest.Update(w, newSite("a", "").Metadata(), func(s *site) { *s.TypedSpec() = siteSpec{"2", []string{"y", "v"}} })
		w.Settle()

		var found []string
		for _, p := range controllertest.List[*page](w, newPage("").Metadata()) {
			found = append(found, p.Metadata().ID()+p.TypedSpec().Text)
		}

		require.Equal(w, []string{"v2", "y2"}, found)
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}

// What a handler, or a question, does to what it is given is seen by nobody: not by another pass, a cache, or the state.
func TestHandlersHaveACopy(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		w.Configure(func(cfg *runtime.Config) { cfg.Options = []options.Option{safe.WithResourceCache[*site]()} })
		spoil := func(s *site) {
			j.note("%s %v", s.TypedSpec().Text, s.TypedSpec().Pages)
			s.TypedSpec().Text, s.TypedSpec().Pages[0] = "spoilt", "spoilt"
			s.Metadata().Labels().Set("spoilt", "yes")
		}

		startSites(w, func() operator.Definition {
			c := sites().Every(10 * time.Second)
			c.Case("Never", func(s *site) bool {
				spoil(s)

				return false
			}, handle)

			return c.Otherwise(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				spoil(s)

				cached, err := operator.Cached[*site](ctx, c, "a")
				spoil(cached)

				return err
			})
		})

		w.Create(newSite("a", "hello", "x"))
		w.Advance(15 * time.Second)
		require.Equal(w, slices.Repeat([]string{"hello [x]"}, 6), j.taken())
		require.Equal(w, "hello", getSite(w, "a").TypedSpec().Text)
		require.True(w, getSite(w, "a").Metadata().Labels().Empty())
	})
}

// Handlers are for what is there to stay: not for what is torn down, or gone.
func TestHandlersAreForRunningPrimaries(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			return sites().Reconcile(func(_ context.Context, s *site, _ *operator.Context[*site]) error {
				j.note("%s %s", s.Metadata().ID(), s.Metadata().Phase())

				return nil
			})
		})

		held, going := newSite("held", ""), newSite("going", "")
		held.Metadata().Finalizers().Add("somebody")
		going.Metadata().SetPhase(resource.PhaseTearingDown)
		going.Metadata().Finalizers().Add("somebody")

		w.Create(held, going)
		w.Settle()
		require.Equal(w, []string{"held running"}, j.taken())

		w.Destroy(held.Metadata())
		w.Settle()
		w.WakeAll()
		w.Settle()
		require.Empty(w, j.taken())
	})
}

// Writes that come together may be one pass, and the last one is always looked at.
func TestWritesCoalesce(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		goOn := make(chan struct{})

		startSites(w, func() operator.Definition {
			return sites().Reconcile(func(ctx context.Context, s *site, _ *operator.Context[*site]) error {
				j.note("%s", s.TypedSpec().Text)

				select {
				case <-goOn:
				case <-ctx.Done():
				}

				return nil
			})
		})

		w.Create(newSite("a", "0"))
		w.Advance(time.Second)

		for _, text := range strings.Fields("1 2 3 4 5") {
			setText(w, "a", text)
		}

		close(goOn)
		w.Settle()

		seen := j.taken()
		require.Equal(w, "0", seen[0])
		require.Equal(w, []string{"5"}, slices.Compact(seen[1:]), "nothing in between is looked at any more")
	})
}

// As many keys are worked on at once as there are workers, and each of them by one.
func TestWorkers(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		const workers = 4

		type visit struct {
			id  resource.ID
			end bool
		}

		visits, goOn := make(chan visit, 100), make(chan struct{})

		startSites(w, func() operator.Definition {
			return sites().Workers(workers).Reconcile(func(ctx context.Context, s *site, _ *operator.Context[*site]) error {
				visits <- visit{id: s.Metadata().ID()}

				select {
				case <-goOn:
				case <-ctx.Done():
				}

				visits <- visit{id: s.Metadata().ID(), end: true}

				return nil
			})
		})

		for _, id := range strings.Fields("a b c d e f") {
			w.Create(newSite(id, ""))
		}

		for _, id := range strings.Fields("a b c d e f") {
			setText(w, id, "again")
		}

		w.Advance(time.Second)
		require.Len(w, visits, workers, "as many have begun as there are workers, whatever else there is to do")
		close(goOn)
		w.Settle()
		close(visits)

		most, busy := 0, map[resource.ID]bool{}

		for v := range visits {
			require.Equal(w, v.end, busy[v.id], "one key is never worked on twice at once")

			if busy[v.id] = !v.end; v.end {
				delete(busy, v.id)
			}

			most = max(most, len(busy))
		}

		require.Equal(w, workers, most)
	})
}

// Primaries are those whose labels are selected. One that stops to be has one more pass, which says so and leaves all as it is.
func TestSelectedPrimaries(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Select(resource.LabelEqual("managed", "yes")).Select(resource.LabelExists("owner"))
			operator.Owns[*page](c)
			operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text })
			})
		})
		w.Compare(timeless)

		labelled := func(id resource.ID, labels ...string) *site {
			s := newSite(id, "1")
			for _, label := range labels {
				s.Metadata().Labels().Set(label, "yes")
			}

			return s
		}

		w.Create(labelled("a", "managed", "owner"), labelled("b", "managed"), labelled("c"))
		w.Settle()
		siteReady(w, "a", operator.True, "Reconciled")
		require.Len(w, controllertest.List[*page](w, newPage("").Metadata()), 1)
		require.True(w, getSite(w, "b").Metadata().Finalizers().Empty(), "what is not the controller's is left alone")

		controllertest.Update(w, newSite("a", "").Metadata(), func(s *site) {
			s.TypedSpec().Text = "2"
			s.Metadata().Labels().Delete("owner")
		})
		w.Settle()
		siteReady(w, "a", operator.Unknown, "OutOfScope")
		require.Equal(w, "1", getPage(w, "a").TypedSpec().Text, "what was made for it stays")

		controllertest.Update(w, newSite("b", "").Metadata(), func(s *site) { s.Metadata().Labels().Set("owner", "me") })
		w.Settle()
		siteReady(w, "b", operator.True, "Reconciled")

		w.Destroy(newSite("a", "").Metadata())
		w.Settle()
		controllertest.Gone(w, newPage("a").Metadata())
		controllertest.Gone(w, newSite("a", "").Metadata())
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}

// Of stages each runs, in their order, until one waits or fails; of cases the first that holds, or else what is otherwise done.
func TestStructures(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites()
			does := func(what string, errs map[string]error) operator.StageHandler[*site] {
				return func(_ context.Context, s *site, _ *operator.StageContext) error {
					j.note("%s", what)

					return errs[s.TypedSpec().Text]
				}
			}

			first := c.Stage("First", does("first", map[string]error{"wait": operator.Wait("Waits"), "fail": operator.Terminal(errors.ErrUnsupported)}))
			scope := c.Scope("middle", "Middle", first)
			long := scope.Case("Long", func(s *site) bool { return len(s.TypedSpec().Text) > 4 }, does("long", nil))
			scope.Case("LongAsWell", func(s *site) bool { return len(s.TypedSpec().Text) > 2 }, does("as long", nil), long)
			scope.Otherwise(does("otherwise", nil))
			c.Stage("Last", does("last", nil), scope)

			return c
		})

		w.Create(newSite("a", "longer"))
		w.Advance(time.Second)
		require.Equal(w, []string{"first", "long", "last"}, j.taken())

		for text, ran := range map[string][]string{
			"long": {"first", "as long", "last"},
			"no":   {"first", "otherwise", "last"},
			"wait": {"first"},
			"fail": {"first"},
		} {
			setText(w, "a", text)
			w.Advance(time.Second)
			require.Equal(w, ran, j.taken(), text)
		}
	})
}

// With the first pass everything that was there before can be seen, in the cache too, however much it is.
func TestFirstPassSeesEverything(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		const many = 500

		var j journal

		w.Configure(func(cfg *runtime.Config) {
			cfg.Options = []options.Option{safe.WithResourceCache[*site](), safe.WithResourceCache[*secret]()}
		})

		for i := range many {
			require.NoError(w, w.State().Create(w.Context(), newSecret(strings.Repeat("s", i+1))))
		}

		w.Create(newSite("a", ""), newSite("b", ""))

		startSites(w, func() operator.Definition {
			c := sites()
			operator.Watch(c, func(s *secret) []resource.ID { return s.TypedSpec().Sites })

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				sites, err := operator.CachedList[*site](ctx, c)
				secrets, listing := operator.CachedList[*secret](ctx, c)
				j.note("%s: %d sites, %d secrets", s.Metadata().ID(), len(sites), len(secrets))

				return errors.Join(err, listing)
			})
		})
		w.Settle()
		require.ElementsMatch(w, []string{"a: 2 sites, 500 secrets", "b: 2 sites, 500 secrets"}, j.taken())
	})
}

// Handlers read what they have declared, from the state or from the cache, and nothing else.
func TestReads(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		w.Configure(func(cfg *runtime.Config) { cfg.Options = []options.Option{safe.WithResourceCache[*secret]()} })

		var direct state.State

		direct = startSites(w, func() operator.Definition {
			c := sites()
			operator.Watch(c, nobody)

			return c.Reconcile(func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
				// Somebody writes while the pass runs: the state shows it at once, and the cache when it is told.
				require.NoError(w, direct.Create(ctx, newSecret("new", "a")))

				live, err := operator.Get[*secret](ctx, c, "new")
				require.NoError(w, err)

				_, err = operator.Cached[*secret](ctx, c, "new")
				require.True(w, state.IsNotFoundError(err))

				all, err := operator.List[*secret](ctx, c, state.WithLabelQuery())
				require.NoError(w, err)

				cached, err := operator.CachedList[*secret](ctx, c)
				require.NoError(w, err)

				whole, err := c.Runtime().GetUncached(ctx, newSecret("old").Metadata())
				require.NoError(w, err)
				require.NotNil(w, whole)

				j.note("%v, %d and %d", live.TypedSpec().Sites, len(all), len(cached))

				_, err = operator.Get[*doc](ctx, c, "x")
				j.note("%v", err)

				_, err = operator.CachedList[*doc](ctx, c)
				j.note("%v", err)

				return nil
			})
		})

		w.Create(newSecret("old"), newSite("a", ""))
		w.Settle()
		require.Equal(w, []string{
			"[a], 2 and 1",
			`controller "sites" reads Docs.test.switchyard.run, which it has not declared: say Watch or Owns in its definition`,
			`controller "sites" reads Docs.test.switchyard.run, which it has not declared: say Watch or Owns in its definition`,
		}, j.taken())
	})
}
