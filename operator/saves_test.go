package operator_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// saving is a controller that may save its primaries, and has a status.
func saving(handle func(context.Context, *site, *operator.Context[*site], *operator.StatusOf[seen]) error) func() operator.Definition {
	return func() operator.Definition {
		c := sites().Mutates()
		status := operator.Status[seen, statusExtension](c)

		return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error { return handle(ctx, s, c, status) })
	}
}

// A primary that is given to Save is written: its spec, its labels and its annotations. What is not given is not written.
func TestSaveWritesThePrimary(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, saving(func(_ context.Context, s *site, c *operator.Context[*site], status *operator.StatusOf[seen]) error {
			status.Set(c, func(data *seen) { data.Text = "seen" })

			save := s.TypedSpec().Text == "save"
			s.TypedSpec().Text, s.TypedSpec().Pages = "saved", []string{"x"}
			s.Metadata().Labels().Set("label", "yes")
			s.Metadata().Labels().Delete("old")
			s.Metadata().Annotations().Set("annotation", "yes")

			if !save {
				return nil
			}

			err := c.Save(s)
			s.TypedSpec().Text = "changed after Save"

			return err
		}))
		w.Compare(timeless)

		a := newSite("a", "save")
		a.Metadata().Labels().Set("old", "yes")
		a.Metadata().Labels().Set("own", "yes")
		w.Create(a, newSite("b", "do not"))
		w.Settle()

		saved := getSite(w, "a")
		require.Equal(w, siteSpec{"saved", []string{"x"}}, *saved.TypedSpec())
		require.Equal(w, map[string]string{"label": "yes", "own": "yes"}, saved.Metadata().Labels().Raw())
		require.Equal(w, "yes", saved.Metadata().Annotations().Raw()["annotation"])
		require.EqualValues(w, 2, generation.Of(saved))
		require.EqualValues(w, 2, getStatus(w, "a").ObservedGeneration)

		require.Equal(w, siteSpec{Text: "do not"}, *getSite(w, "b").TypedSpec())
		require.True(w, getSite(w, "b").Metadata().Labels().Empty())

		for _, id := range []string{"a", "b"} {
			require.Equal(w, "seen", getStatus(w, id).Data.Text)
			require.Equal(w, resource.Finalizers{"sites"}, *getSite(w, id).Metadata().Finalizers())
		}
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}

// What a handler has reported is saved although it fails; the primary is not.
func TestReportsAreSavedThoughThePassFails(t *testing.T) {
	t.Parallel()

	for reason, err := range map[string]error{
		"Waits":    operator.Wait("Waits"),
		"Terminal": operator.Terminal(errors.New("secret")),
		"Error":    errors.New("secret"),
	} {
		controllertest.Run(t, func(w *controllertest.World) {
			startSites(w, saving(func(_ context.Context, s *site, c *operator.Context[*site], status *operator.StatusOf[seen]) error {
				status.Set(c, func(data *seen) { data.Text = "seen" })
				c.Condition("Looked", operator.True, "Really", "at %s", s.Metadata().ID())

				s.TypedSpec().Text = "saved"

				return errors.Join(c.Save(s), err)
			}))
			w.Create(newSite("a", "new"))
			w.Advance(time.Second)

			looked, _ := getStatus(w, "a").Conditions.Get("Looked")
			require.Equal(w, "at a", looked.Message)
			require.Equal(w, "seen", getStatus(w, "a").Data.Text)
			siteReady(w, "a", operator.False, reason)
			require.Equal(w, "new", getSite(w, "a").TypedSpec().Text)
		})
	}
}

// What was changed by somebody else while the pass ran is never written over: the pass runs again, on what is there then. It makes
// no difference whether the handler has looked at the newer one.
func TestSaveIsNeverRebased(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(s *site){
		"spec":       func(s *site) { s.TypedSpec().Pages = []string{"theirs"} },
		"label":      func(s *site) { s.Metadata().Labels().Set("theirs", "yes") },
		"finalizer":  func(s *site) { s.Metadata().Finalizers().Add("theirs") },
		"annotation": func(s *site) { s.Metadata().Annotations().Set("theirs", "yes") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.Run(t, func(w *controllertest.World) {
				var (
					j      journal
					direct state.State
				)

				direct = startSites(w, saving(func(ctx context.Context, s *site, c *operator.Context[*site], _ *operator.StatusOf[seen]) error {
					j.note("%s", s.TypedSpec().Text)

					if s.TypedSpec().Text == "new" {
						theirs := s.DeepCopy().(*site)
						theirs.TypedSpec().Text = "changed"
						change(theirs)
						require.NoError(w, direct.Update(ctx, theirs))

						live, err := operator.Get[*site](ctx, c, "a")
						require.NoError(w, err)
						require.Equal(w, "changed", live.TypedSpec().Text)
					}

					s.TypedSpec().Text += " and saved"
					if len(s.TypedSpec().Text) > 30 {
						return nil
					}

					return c.Save(s)
				}))
				w.Create(newSite("a", "new"))
				w.Settle()
				require.Equal(w, []string{"new", "changed", "changed and saved"}, j.taken()[:3])
				require.Contains(w, getSite(w, "a").TypedSpec().Text, "changed and saved")

				want := newSite("", "")
				change(want)
				require.Subset(w, *getSite(w, "a").Metadata().Finalizers(), *want.Metadata().Finalizers())
				require.Subset(w, getSite(w, "a").Metadata().Labels().Raw(), want.Metadata().Labels().Raw())
				require.Subset(w, getSite(w, "a").Metadata().Annotations().Raw(), want.Metadata().Annotations().Raw())
				require.Equal(w, want.TypedSpec().Pages, getSite(w, "a").TypedSpec().Pages)
			})
		})
	}
}

// A primary that goes, or lives anew, while the pass runs is not written either.
func TestSaveOfAFormerLife(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var (
			j      journal
			direct state.State
		)

		direct = startSites(w, func() operator.Definition {
			return sites().Mutates().Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				j.note("%s %s", s.TypedSpec().Text, operator.Incarnation(s))

				if s.TypedSpec().Text == "first" {
					require.NoError(w, direct.Destroy(ctx, s.Metadata()))
					require.NoError(w, direct.Create(ctx, newSite("a", "second")))
				}

				s.TypedSpec().Pages = []string{"saved"}

				return c.Save(s)
			})
		})
		w.Create(newSite("a", "first"))
		w.Settle()

		lines := j.taken()
		require.Equal(w, []string{"first uid-1", "second uid-2"}, lines[:2])
		require.Equal(w, siteSpec{"second", []string{"saved"}}, *getSite(w, "a").TypedSpec())
	})
}

// A primary that goes while the pass runs is not made again by saving it.
func TestSaveOfAPrimaryThatHasGone(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var direct state.State

		direct = startSites(w, func() operator.Definition {
			return sites().Mutates().Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				if s.TypedSpec().Text == "new" {
					require.NoError(w, direct.Destroy(ctx, s.Metadata()))
				}

				s.TypedSpec().Text = "saved"

				return c.Save(s)
			})
		})
		w.Create(newSite("a", "new"))
		w.Settle()

		_, err := w.State().Get(w.Context(), newSite("a", "").Metadata())
		require.True(w, state.IsNotFoundError(err))
	})
}

// What is saved has to be what the pass is about.
func TestSaveOfSomethingElseIsRefused(t *testing.T) {
	t.Parallel()

	var j journal

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, saving(func(_ context.Context, s *site, c *operator.Context[*site], _ *operator.StatusOf[seen]) error {
			other, former, older := s.DeepCopy().(*site), s.DeepCopy().(*site), s.DeepCopy().(*site)
			*other.Metadata() = at(siteType, "b")
			former.Metadata().Annotations().Set(generation.UIDAnnotation, "another")
			older.Metadata().SetVersion(older.Metadata().Version().Next())

			for _, given := range []*site{other, former, older, newSite("a", "")} {
				err := c.Save(given)

				var refused *operator.RefusedError

				require.ErrorAs(w, err, &refused)
				j.note("%v", err)
			}

			return nil
		}))
		w.Create(newSite("a", ""))
		w.Settle()
		require.Equal(w, []string{
			"Save is given Sites.test.switchyard.run(test/b@undefined) in the pass of Sites.test.switchyard.run(test/a@2): save what the handler was given",
			"Save is given version 2 of Sites.test.switchyard.run(test/a@2) and the pass began with version 2: change what the handler was given, and leave its version alone",
			"Save is given version 3 of Sites.test.switchyard.run(test/a@2) and the pass began with version 2: change what the handler was given, and leave its version alone",
			"Save is given version undefined of Sites.test.switchyard.run(test/a@2) and the pass began with version 2: change what the handler was given, and leave its version alone",
		}, j.taken()[:4])
	})

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			return sites().Reconcile(func(_ context.Context, s *site, c *operator.Context[*site]) error {
				j.note("%v", c.Save(s))

				return nil
			})
		})
		w.Create(newSite("a", ""))
		w.Settle()
		require.Equal(w, `controller "sites" saves its primary and has not said so: call Mutates in its definition`, j.taken()[0])
	})
}

// A primary that belongs to a controller is that one's to change.
func TestSaveOfAPrimaryThatBelongsToSomebody(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, saving(func(_ context.Context, s *site, c *operator.Context[*site], _ *operator.StatusOf[seen]) error {
			s.TypedSpec().Text = "saved"

			return c.Save(s)
		}))
		require.NoError(w, w.State().Create(w.Context(), newSite("a", "theirs"), state.WithCreateOwner("somebody")))
		w.Settle()
		require.Equal(w, "theirs", getSite(w, "a").TypedSpec().Text)
		siteReady(w, "a", operator.False, "Refused")

		ready, _ := getStatus(w, "a").Conditions.Get(operator.Ready)
		require.Contains(w, ready.Message, `belongs to "somebody" and can not be saved by others: have its owner change it`)
	})
}

// The primary and its status are two writes: one that was made stays if the other can not be.
func TestSavedPrimaryStaysThoughItsStatusConflicts(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var (
			j      journal
			direct state.State
		)

		direct = startSites(w, saving(func(ctx context.Context, s *site, c *operator.Context[*site], status *operator.StatusOf[seen]) error {
			j.note("%s, %s", s.TypedSpec().Text, status.Get(c).Text)
			status.Set(c, func(data *seen) { data.Text = "saw " + s.TypedSpec().Text })

			if s.TypedSpec().Text != "2" {
				return nil
			}

			md := at(statusType, "a")
			theirs, err := direct.Get(ctx, &md)
			require.NoError(w, err)

			theirs.(*siteStatus).TypedSpec().Data.Text = "theirs"
			require.NoError(w, direct.Update(ctx, theirs, state.WithUpdateOwner("sites")))

			s.TypedSpec().Text = "3"

			return c.Save(s)
		}))
		w.Create(newSite("a", "1"))
		w.Settle()
		j.taken()

		setText(w, "a", "2")
		w.Settle()
		require.Equal(w, []string{"2, saw 1", "3, theirs"}, j.taken()[:2])
		require.Equal(w, "3", getSite(w, "a").TypedSpec().Text)
		require.Equal(w, "saw 3", getStatus(w, "a").Data.Text)
	})
}
