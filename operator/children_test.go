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
	"github.com/switchyard-run/switchyard/operator"
)

// reconciling is a controller of one function that owns pages and docs.
func reconciling(handle operator.Handler[*site]) func() operator.Definition {
	return func() operator.Definition {
		c := sites().Reconcile(handle)
		operator.Owns[*page](c)
		operator.Owns[*doc](c)

		return c
	}
}

// A child is where its primary is and called like it, unless it says something else, and says whose it is.
func TestChildrenAreWhereTheirPrimaryIs(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, reconciling(func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
			named := newPage("named")
			named.Metadata().Labels().Set("own", "label")
			named.Metadata().Annotations().Set("own", "annotation")

			made, err := operator.EnsureWithResult(ctx, c, named, func(p *page) { p.TypedSpec().Text = "named" })
			require.NoError(w, err)
			require.Equal(w, "named", made.TypedSpec().Text)
			require.True(w, named.Metadata().Labels().Raw()[operator.ParentLabel] == "", "what is given stays as it was")

			return errors.Join(
				operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = "like its primary" }),
				operator.Ensure(ctx, c, &doc{}, nil),
			)
		}))
		w.Create(newSite("a", ""))
		w.Settle()

		require.Equal(w, "like its primary", getPage(w, "a").TypedSpec().Text)
		require.Len(w, controllertest.List[*doc](w, newDoc("").Metadata()), 1)

		named := getPage(w, "named")
		require.Equal(w, "sites", named.Metadata().Owner())
		require.Equal(w, map[string]string{
			"own": "label", operator.ParentLabel: "Sites.test.switchyard.run/test/a", operator.ParentUIDLabel: "uid-1",
		}, named.Metadata().Labels().Raw())
		require.Equal(w, map[string]string{"own": "annotation"}, named.Metadata().Annotations().Raw())
	})
}

// Of a child only that is managed which the function touches, or the patch names.
func TestOnlyWhatIsGivenIsManaged(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, reconciling(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
			return errors.Join(
				operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = s.TypedSpec().Text }),
				operator.EnsureJSON(ctx, c, &doc{}, s.TypedSpec().Text),
			)
		}))
		w.Create(newSite("a", `{"map":{"a":1},"list":[1,2]}`))
		w.Settle()

		got := func() docSpec { return *controllertest.Get[*doc](w, newDoc("a").Metadata()).TypedSpec() }
		require.Equal(w, docSpec{"map": map[string]any{"a": 1.0}, "list": []any{1.0, 2.0}}, got())

		// Somebody else, such as a server that gives out addresses, adds what nobody here has asked for.
		controllertest.Update(w, newDoc("a").Metadata(), func(d *doc) {
			(*d.TypedSpec())["address"] = "10.0.0.1"
			(*d.TypedSpec())["map"] = map[string]any{"a": 1.0, "b": 2.0}
		})
		controllertest.Update(w, newPage("a").Metadata(), func(p *page) {
			p.TypedSpec().Tags = map[string]string{"by": "others"}
			p.Metadata().Annotations().Set("by", "others")
		})
		setText(w, "a", `{"map":{"c":3},"list":[3]}`)
		w.Settle()
		require.Equal(w, docSpec{"map": map[string]any{"a": 1.0, "b": 2.0, "c": 3.0}, "list": []any{3.0}, "address": "10.0.0.1"}, got())

		setText(w, "a", `{"map":{"a":null},"list":null}`)
		w.Settle()
		require.Equal(w, docSpec{"map": map[string]any{"b": 2.0, "c": 3.0}, "address": "10.0.0.1"}, got())

		p := getPage(w, "a")
		require.Equal(w, map[string]string{"by": "others"}, p.TypedSpec().Tags)
		require.Equal(w, map[string]string{"by": "others"}, p.Metadata().Annotations().Raw())
	})
}

// Nothing is written if nothing is to change.
func TestNothingIsWrittenForNothing(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var j journal

		startSites(w, func() operator.Definition {
			c := sites().Mutates()
			operator.Owns[*page](c)
			operator.Owns[*doc](c)
			status := operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				j.note("pass")
				status.Set(c, func(data *seen) { data.Text = "seen" })

				s.Metadata().Labels().Set("seen", "yes")

				return errors.Join(
					c.Save(s),
					operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Tags = map[string]string{"a": "b"} }),
					operator.EnsureJSON(ctx, c, &doc{}, map[string]any{"a": []int{1}}),
				)
			})
		})
		w.Create(newSite("a", ""))
		w.Settle()

		status := at(statusType, "a")
		all := []resource.Pointer{newSite("a", "").Metadata(), newPage("a").Metadata(), newDoc("a").Metadata(), &status}

		var before []string

		for _, md := range all {
			res, err := w.State().Get(w.Context(), md)
			require.NoError(w, err)

			before = append(before, res.Metadata().String())
		}

		j.taken()
		w.WakeAll()
		w.Settle()
		w.Restart()
		w.Settle()
		require.NotEmpty(w, j.taken())

		for i, md := range all {
			res, err := w.State().Get(w.Context(), md)
			require.NoError(w, err)
			require.Equal(w, before[i], res.Metadata().String())
		}
	})
}

// What is there already and somebody else's is left alone, and the pass says so and is not tried again.
func TestNothingIsAdopted(t *testing.T) {
	t.Parallel()

	of := func(id resource.ID, uid string) func(md *resource.Metadata) {
		return func(md *resource.Metadata) {
			md.Labels().Set(operator.ParentLabel, string(siteType)+"/"+ns+"/"+id)
			md.Labels().Set(operator.ParentUIDLabel, uid)
		}
	}

	for name, test := range map[string]struct {
		owner  string
		change func(md *resource.Metadata)
		says   string
	}{
		"nobody's":               {"", func(*resource.Metadata) {}, `which no controller owns`},
		"nobody's, and labelled": {"", of("a", "uid-1"), `which no controller owns`},
		"another controller's":   {"somebody", of("a", "uid-1"), `which belongs to "somebody"`},
		"not a child":            {"sites", func(*resource.Metadata) {}, `which is nobody's child`},
		"another primary's":      {"sites", of("b", "uid-1"), `which is a child of "Sites.test.switchyard.run/test/b"`},
		"of a former life":       {"sites", of("a", "uid-0"), `which is a child of an earlier "Sites.test.switchyard.run/test/a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.Run(t, func(w *controllertest.World) {
				var j journal

				startSites(w, func() operator.Definition {
					c := sites()
					operator.Owns[*page](c)
					operator.Status[seen, statusExtension](c)

					return c.Reconcile(func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
						j.note("pass")

						return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = "adopted" })
					})
				})

				there := newPage("a")
				test.change(there.Metadata())
				require.NoError(w, w.State().Create(w.Context(), there, state.WithCreateOwner(test.owner)))
				w.Create(newSite("a", ""))
				w.Settle()
				siteReady(w, "a", operator.False, "Refused")

				ready, _ := getStatus(w, "a").Conditions.Get(operator.Ready)
				require.Contains(w, ready.Message, "refusing to adopt")
				require.Contains(w, ready.Message, test.says)
				require.Empty(w, getPage(w, "a").TypedSpec().Text)

				j.taken()
				w.Advance(time.Hour)
				require.Empty(w, j.taken(), "another try is of no use")

				w.Destroy(newSite("a", "").Metadata())
				w.Settle()
				controllertest.Gone(w, newSite("a", "").Metadata())
				require.Equal(w, test.owner, getPage(w, "a").Metadata().Owner(), "and it stays when the primary goes")
			})
		})
	}
}

// What was not declared is refused: other kinds, and other namespaces.
func TestUndeclaredChildrenAreRefused(t *testing.T) {
	t.Parallel()

	elsewhere := newPage("a")
	*elsewhere.Metadata() = resource.NewMetadata("other", pageType, "a", resource.VersionUndefined)

	for says, handle := range map[string]operator.Handler[*site]{
		`owns Pages.test.switchyard.run in ["test"] and not in "other"`: func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
			return operator.Ensure(ctx, c, elsewhere.DeepCopy().(*page), nil)
		},
		`does not own Secrets.test.switchyard.run: say Owns[*typed.Resource[operator_test.secretSpec,operator_test.secretExtension]]`: func(
			ctx context.Context, _ *site, c *operator.Context[*site],
		) error {
			return operator.Ensure(ctx, c, newSecret("a"), nil)
		},
		`does not own Secrets.test.switchyard.run: say Owns[*`: func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
			return operator.Prune[*secret](ctx, c)
		},
		`Sites.test.switchyard.run is the primary of controller "sites" and no child: say Mutates in its definition, and Save`: func(
			ctx context.Context, s *site, c *operator.Context[*site],
		) error {
			return operator.Ensure(ctx, c, s, nil)
		},
		`is no JSON: it is null, and has to be an object`: func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
			return operator.EnsureJSON(ctx, c, &doc{}, nil)
		},
	} {
		controllertest.Run(t, func(w *controllertest.World) {
			var j journal

			startSites(w, reconciling(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				err := handle(ctx, s, c)
				j.note("%v", err)

				return err
			}))
			w.Create(newSite("a", ""))
			w.Settle()

			lines := j.taken()
			require.NotEmpty(w, lines)
			require.Contains(w, lines[0], says)
		})
	}
}

// If somebody else changes a child while a pass works on it, the whole pass runs again, on what is there then.
func TestConflictsRunThePassAgain(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		var (
			j      journal
			direct state.State
		)

		direct = startSites(w, func() operator.Definition {
			c := sites()
			operator.Owns[*page](c)
			operator.Status[seen, statusExtension](c)

			return c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				j.note("begins")

				return operator.Ensure(ctx, c, &page{}, func(p *page) {
					j.note("changes %q", p.TypedSpec().Tags["by"])

					if s.TypedSpec().Text == "2" && p.TypedSpec().Tags["by"] == "" {
						other := p.DeepCopy().(*page)
						other.TypedSpec().Tags = map[string]string{"by": "others"}
						require.NoError(w, direct.Update(ctx, other, state.WithUpdateOwner("sites")))
					}

					p.TypedSpec().Text = s.TypedSpec().Text
				})
			})
		})
		w.Create(newSite("a", "1"))
		w.Settle()

		before := getStatus(w, "a")

		j.taken()
		setText(w, "a", "2")
		w.Settle()
		require.Equal(w, []string{"begins", `changes ""`, "begins", `changes "others"`}, j.taken()[:4])
		require.Equal(w, "2", getPage(w, "a").TypedSpec().Text)
		require.Equal(w, "others", getPage(w, "a").TypedSpec().Tags["by"], "nothing of what others have written is lost")

		ready, _ := getStatus(w, "a").Conditions.Get(operator.Ready)
		was, _ := before.Conditions.Get(operator.Ready)
		require.Equal(w, was.LastTransitionTime, ready.LastTransitionTime, "a pass that knows nothing reports nothing")
	})
}

// There are no transactions: a child that was written stays when the next one can not be.
func TestWhatWasWrittenStays(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, reconciling(func(ctx context.Context, _ *site, c *operator.Context[*site]) error {
			if err := operator.Ensure(ctx, c, newPage("first"), nil); err != nil {
				return err
			}

			return operator.Ensure(ctx, c, newPage("taken"), nil)
		}))
		w.Create(newPage("taken"), newSite("a", ""))
		w.Settle()
		controllertest.Get[*page](w, newPage("first").Metadata())
	})
}

// Children that are not wanted any more go when a handler says so. Nothing else goes, and what is held goes later.
func TestPrune(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, reconciling(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
			for _, id := range s.TypedSpec().Pages {
				if err := operator.Ensure(ctx, c, newPage(id), nil); err != nil {
					return err
				}
			}

			return operator.Prune[*page](ctx, c, s.TypedSpec().Pages...)
		}))

		imitation := newPage("imitation")
		imitation.Metadata().Labels().Set(operator.ParentLabel, string(siteType)+"/"+ns+"/a")
		imitation.Metadata().Labels().Set(operator.ParentUIDLabel, "uid-1")

		w.Create(newSite("a", "", "x", "y", "z"), newSite("b", "", "w"), newPage("other"), imitation)
		w.Settle()

		controllertest.Update(w, newPage("y").Metadata(), func(p *page) { p.Metadata().Finalizers().Add("somebody") })
		controllertest.Update(w, newSite("a", "").Metadata(), func(s *site) { s.TypedSpec().Pages = []string{"z"} })
		w.Settle()

		ids := func() (all []string) {
			for _, p := range controllertest.List[*page](w, newPage("").Metadata()) {
				all = append(all, p.Metadata().ID()+" "+p.Metadata().Phase().String())
			}

			return all
		}
		require.Equal(w, []string{"imitation running", "other running", "w running", "y tearingDown", "z running"}, ids())

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), newPage("y").Metadata(), "somebody"))
		w.Settle()
		require.Equal(w, []string{"imitation running", "other running", "w running", "z running"}, ids())
	})
}

// A child that is on its way out and held is waited for, and then made again.
func TestChildrenAreMadeAgain(t *testing.T) {
	t.Parallel()

	script := func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := paging().(*operator.Controller[*site])
			operator.Status[seen, statusExtension](c)

			return c
		})
		w.Compare(timeless)
		w.Create(newSite("a", "1"))
		w.Settle()

		controllertest.Update(w, newPage("a").Metadata(), func(p *page) { p.Metadata().Finalizers().Add("somebody") })
		_, err := w.State().Teardown(w.Context(), newPage("a").Metadata(), state.WithTeardownOwner("sites"))
		require.NoError(w, err)
		setText(w, "a", "2")
		w.Settle()
		siteReady(w, "a", operator.False, "ChildTerminating")
		require.Equal(w, "1", getPage(w, "a").TypedSpec().Text)

		require.NoError(w, w.State().RemoveFinalizer(w.Context(), newPage("a").Metadata(), "somebody"))
		w.Settle()
		siteReady(w, "a", operator.True, "Reconciled")
		require.Equal(w, "2", getPage(w, "a").TypedSpec().Text)
	}

	controllertest.CrashSweep(t, script)
	controllertest.AssertIdempotent(t, script)
}
