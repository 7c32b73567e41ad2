package operator_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

const outside = resource.Finalizer("example.com/outside")

// provider is a world outside in which there is a record for each life of a site.
type provider struct {
	w       *controllertest.World
	mu      sync.Mutex // guards what follows
	records map[string]string
	tries   int
	fails   func(id string) error
}

func newProvider(w *controllertest.World) *provider {
	return &provider{w: w, records: map[string]string{}}
}

// answer has all requests answered by the function.
func (p *provider) answer(request func(id string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.fails = request
}

// served has all requests answered well.
func served(string) error { return nil }

// seen returns how many records there are, and how many requests there were.
func (p *provider) seen() (records, tries int) {
	p.mu.Lock()
	defer p.mu.Unlock()

	return len(p.records), p.tries
}

// try fails where the test or the schedule wants it.
func (p *provider) try(id string) error {
	p.tries++

	if p.fails != nil {
		return p.fails(id)
	}

	if p.w.Pick(fmt.Sprintf("request %d is refused", p.tries), 10) == 1 {
		return errors.New("refused")
	}

	return nil
}

func (p *provider) put(id, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if err := p.try(id); err != nil {
		return err
	}

	p.records[id] = text

	return nil
}

func (p *provider) remove(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if err := p.try(id); err != nil {
		return err
	}

	delete(p.records, id)

	return nil
}

// recorded keeps the records of a provider.
func recorded(p *provider, also ...func(*operator.Controller[*site])) func() operator.Definition {
	return func() operator.Definition {
		c := sites().Reconcile(func(_ context.Context, s *site, _ *operator.Context[*site]) error {
			return p.put(operator.Incarnation(s), s.TypedSpec().Text)
		})
		c.Finalize(outside, func(_ context.Context, s *site, _ *operator.StageContext) error {
			return p.remove(operator.Incarnation(s))
		})

		for _, say := range also {
			say(c)
		}

		return c
	}
}

// Nothing outside is left of what is gone, whatever fails and wherever the process ends.
func TestFinalizersLeaveNothingBehind(t *testing.T) {
	t.Parallel()

	hurried := func(w *controllertest.World) {
		p := newProvider(w)

		startSites(w, recorded(p))
		w.Create(newSite("a", "1"), newSite("b", "2"))
		setText(w, "a", "3")
		w.Destroy(newSite("b", "").Metadata())
		w.Settle()
		w.Create(newSite("b", "4"))
		w.Destroy(newSite("a", "").Metadata())
		w.Settle()
		require.Equal(w, map[string]string{operator.Incarnation(getSite(w, "b")): "4"}, p.records)
	}

	controllertest.CrashSweep(t, hurried)
	controllertest.AssertIdempotent(t, hurried)
	controllertest.Confluent(t, 20, hurried)
	controllertest.Explore(t, controllertest.Plan{Seeds: 100, Faults: controllertest.Storm()}, hurried)
}

// The finalizer is there before the handler begins, and what the handler is given, and may save, is what was written with it.
func TestFinalizersComeFirst(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var (
			j      journal
			direct state.State
		)

		direct = startSites(w, func() operator.Definition {
			c := sites().Mutates().Finalize(outside, handleStage)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				now, err := direct.Get(ctx, s.Metadata())
				require.NoError(w, err)
				j.note("%s, and %s in the state", s.Metadata(), now.Metadata())

				s.TypedSpec().Text = "saved"

				return c.Save(s)
			})
		})
		w.Create(newSite("a", "new"))
		w.Settle()

		lines := j.taken()
		require.Equal(w, "Sites.test.switchyard.run(test/a@2), and Sites.test.switchyard.run(test/a@2) in the state", lines[0])
		require.LessOrEqual(w, len(lines), 2, "the first pass saves, and its write may have another one follow")
		require.Equal(w, "saved", getSite(w, "a").TypedSpec().Text)
		require.True(w, getSite(w, "a").Metadata().Finalizers().Has(outside))
	})
}

// meddling is a state in which something happens right before, or right after, an update of a site.
type meddling struct {
	state.CoreState

	before, after func(now resource.Resource)
}

func (m *meddling) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	_, is := res.(*site)

	if is && m.before != nil {
		m.before(res)
	}

	err := m.CoreState.Update(ctx, res, opts...)

	if is && err == nil && m.after != nil {
		m.after(res)
	}

	return err
}

// A primary that is torn down, or goes, while the finalizer is put on it is not worked on any more.
func TestDeletionDuringTheWriteOfTheFinalizer(t *testing.T) {
	t.Parallel()

	for name, after := range map[string]bool{"before": false, "after": true} {
		for what, gone := range map[string]bool{"torn down": false, "destroyed": true} {
			if gone && after {
				continue // the finalizer holds it
			}

			t.Run(what+" right "+name, func(t *testing.T) {
				t.Parallel()

				controllertest.Run(t, func(w *controllertest.World) {
					var (
						j      journal
						direct state.State
						once   sync.Once
					)

					meddle := func(now resource.Resource) {
						once.Do(func() {
							require.True(w, now.Metadata().Finalizers().Has(outside))

							_, err := direct.Teardown(w.Context(), now.Metadata())
							require.NoError(w, err)

							if gone {
								require.NoError(w, direct.Destroy(w.Context(), now.Metadata()))
							}
						})
					}

					w.Through(func(core state.CoreState) (state.CoreState, func()) {
						m := &meddling{CoreState: core}
						if after {
							m.after = meddle
						} else {
							m.before = meddle
						}

						return m, func() {}
					})

					direct = startSites(w, func() operator.Definition {
						c := sites().Reconcile(noting(&j))

						return c.Finalize(outside, func(_ context.Context, s *site, _ *operator.StageContext) error {
							j.note("cleanup of %s", s.Metadata().ID())

							return nil
						})
					})
					w.Create(newSite("a", ""))
					w.Settle()
					controllertest.Gone(w, newSite("a", "").Metadata())
					require.NotContains(w, j.taken(), "a")
				})
			})
		}
	}
}

// A primary that is torn down is cleaned up if it carries the finalizer, and is nobody's business if it does not.
func TestCleanupIsForWhoCarriesTheFinalizer(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites().Reconcile(noting(&j))

			return c.Finalize(outside, func(_ context.Context, s *site, _ *operator.StageContext) error {
				j.note("cleanup of %s %s", s.Metadata().Phase(), s.Metadata().ID())

				return nil
			})
		})

		with, without := newSite("with", ""), newSite("without", "")
		with.Metadata().Finalizers().Add(outside)

		for _, s := range []*site{with, without} {
			s.Metadata().Finalizers().Add("somebody")
			s.Metadata().SetPhase(resource.PhaseTearingDown)
		}

		w.Create(with, without)
		w.Settle()
		require.Equal(w, []string{"cleanup of tearingDown with"}, j.taken())
		require.Equal(w, resource.Finalizers{"somebody"}, *getSite(w, "with").Metadata().Finalizers())
		require.Equal(w, resource.Finalizers{"somebody"}, *getSite(w, "without").Metadata().Finalizers())
	})
}

// A controller that had the finalizer of its own name before it was given a Finalize has it on the primaries of that time, and
// lets go of both.
func TestFinalizerOfAnEarlierProgram(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			return sites().Reconcile(noting(&j)).Finalize(outside, func(_ context.Context, s *site, _ *operator.StageContext) error {
				j.note("cleanup of %s", s.Metadata().ID())

				return nil
			})
		})

		running, torn := newSite("running", ""), newSite("torn", "")
		running.Metadata().Finalizers().Add("sites")
		torn.Metadata().Finalizers().Add("sites")
		torn.Metadata().SetPhase(resource.PhaseTearingDown)

		w.Create(running, torn)
		w.Settle()
		require.Contains(w, j.taken(), "cleanup of torn")
		require.ElementsMatch(w, resource.Finalizers{"sites", outside}, *getSite(w, "running").Metadata().Finalizers())

		w.Destroy(running.Metadata())
		w.Settle()
		require.Equal(w, []string{"cleanup of running"}, j.taken())
		require.Empty(w, controllertest.List[*site](w, at(siteType, "")))
	})
}

// A cleanup that fails, waits or asks to be called again is called again, and the finalizer stays until it has done.
func TestCleanupThatIsNotDone(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		err    error
		reason string
		after  time.Duration // 0 is a backoff
	}{
		"fails": {errors.New("secret"), "Error", 0},
		"waits": {operator.Wait("RecordHeld", operator.After(20*time.Second)), "RecordHeld", 20 * time.Second},
		"asks":  {operator.RequeueAfter(20 * time.Second), "TearingDown", 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.Run(t, func(w *controllertest.World) {
				p := newProvider(w)
				p.answer(served)

				startSites(w, recorded(p, func(c *operator.Controller[*site]) {
					operator.Status[seen, statusExtension](c)
					operator.Owns[*page](c)
				}))
				w.Create(newSite("a", "1"))
				w.Settle()
				siteReady(w, "a", operator.True, "Reconciled")

				var calls times

				p.answer(func(string) error {
					calls.note()

					return test.err
				})

				w.Destroy(newSite("a", "").Metadata())
				w.Advance(time.Minute)
				require.Greater(w, calls.count(), 1)

				if gaps := calls.gaps(); test.after > 0 {
					require.Equal(w, test.after, gaps[0])
				}

				require.True(w, getSite(w, "a").Metadata().Finalizers().Has(outside))
				siteReady(w, "a", operator.False, test.reason)

				records, _ := p.seen()
				require.Equal(w, 1, records)

				p.answer(served)

				w.Settle()

				records, _ = p.seen()
				require.Zero(w, records)
				controllertest.Gone(w, newSite("a", "").Metadata())
			})
		})
	}
}

// A cleanup that is of no use to try again stays as it is until something changes.
func TestCleanupThatIsTerminal(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		p := newProvider(w)
		p.answer(served)

		startSites(w, recorded(p))
		w.Create(newSite("a", "1"))
		w.Settle()

		p.answer(func(string) error { return operator.Terminal(errors.New("no")) })

		w.Destroy(newSite("a", "").Metadata())
		w.Settle()

		_, before := p.seen()

		w.Advance(time.Hour)

		_, tries := p.seen()
		require.Equal(w, before, tries)
		require.True(w, getSite(w, "a").Metadata().Finalizers().Has(outside))

		p.answer(served)

		controllertest.Update(w, newSite("a", "").Metadata(), func(s *site) { s.Metadata().Labels().Set("try", "again") })
		w.Settle()

		records, _ := p.seen()
		require.Zero(w, records)
		controllertest.Gone(w, newSite("a", "").Metadata())
	})
}

// What was made goes in this order: what is outside, the children, the status, the finalizer; each waits for what is before it.
func TestOrderOfCleanup(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		p := newProvider(w)
		p.answer(served)

		startSites(w, func() operator.Definition {
			c := paging().(*operator.Controller[*site])
			operator.Status[seen, statusExtension](c)

			return c.Finalize(outside, func(_ context.Context, s *site, _ *operator.StageContext) error { return p.remove(s.Metadata().ID()) })
		})
		w.Create(newSite("a", "1"))
		w.Settle()

		status := at(statusType, "a")

		controllertest.Update(w, newPage("a").Metadata(), func(p *page) { p.Metadata().Finalizers().Add("somebody") })
		controllertest.Update(w, &status, func(s *siteStatus) { s.Metadata().Finalizers().Add("somebody") })

		p.answer(func(string) error { return errors.New("no") })

		w.Destroy(newSite("a", "").Metadata())
		w.Advance(time.Minute)
		require.Equal(w, resource.PhaseRunning, getPage(w, "a").Metadata().Phase())

		p.answer(served)

		w.Advance(10 * time.Minute)
		require.Equal(w, resource.PhaseTearingDown, getPage(w, "a").Metadata().Phase())
		siteReady(w, "a", operator.False, "ChildrenTerminating")
		require.Equal(w, resource.PhaseRunning, controllertest.Get[*siteStatus](w, &status).Metadata().Phase())

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), newPage("a").Metadata(), "somebody"))
		w.Settle()
		controllertest.Gone(w, newPage("a").Metadata())
		require.Equal(w, resource.PhaseTearingDown, controllertest.Get[*siteStatus](w, &status).Metadata().Phase())
		require.True(w, getSite(w, "a").Metadata().Finalizers().Has(outside))

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), &status, "somebody"))
		w.Settle()
		controllertest.Gone(w, &status)
		controllertest.Gone(w, newSite("a", "").Metadata())
	})
}
