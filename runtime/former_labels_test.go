package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// Whoever had a task is told when it is given to others, whatever has happened to the news of it.
func TestRemovedLabelWakesItsFormerDependents(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(c *crew)
		wakes   []resource.ID
	}{
		"removed":                           {func(c *crew) { c.give("t") }, []resource.ID{"a"}},
		"replaced":                          {func(c *crew) { c.give("t", "b") }, []resource.ID{"a", "b"}},
		"changed in several steps":          {func(c *crew) { c.give("t", "b"); c.give("t", "c"); c.give("t", "d") }, []resource.ID{"a", "b", "c", "d"}},
		"changed and restored":              {func(c *crew) { c.give("t", "b"); c.give("t", "a") }, []resource.ID{"a", "b"}},
		"changed and destroyed":             {func(c *crew) { c.give("t", "b"); c.drop("t") }, []resource.ID{"a", "b"}},
		"destroyed":                         {func(c *crew) { c.drop("t") }, []resource.ID{"a"}},
		"destroyed and created":             {func(c *crew) { c.drop("t"); c.add("t", "b") }, []resource.ID{"a", "b"}},
		"destroyed and created and changed": {func(c *crew) { c.drop("t"); c.add("t", "b"); c.give("t", "c") }, []resource.ID{"a", "b", "c"}},
		"nothing about the labels":          {func(c *crew) { c.give("t", "a") }, []resource.ID{"a"}},
		"to many": {func(c *crew) {
			for _, person := range []resource.ID{"b", "c", "d", "e", "f", "g", "h", "i"} {
				c.give("t", person)
			}
		}, []resource.ID{"a", "b", "c", "d", "e", "f", "g", "h", "i"}},
		"to too many": {func(c *crew) {
			for i := range reduced.MaxFormer + 1 {
				c.give("t", fmt.Sprint("nobody ", i))
			}

			c.give("t")
		}, []resource.ID{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}},
	} {
		for _, news := range []string{"at once", "held up", "after a list"} {
			for _, cached := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/cached=%t", name, news, cached), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c := newCrew(t, newState(), cached, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
						c.add("t", "a")
						c.start()
						require.Equal(t, c.people, c.ran())

						switch news {
						case "held up":
							c.hold()
							c.add("other") // keeps both workers busy
							c.add("another")
							synctest.Wait()
						case "after a list":
							c.faults.set(func() { c.faults.forget = true })
							c.faults.breakAll(conformance.StrResourceType, errBroken)
							synctest.Wait()
						}

						test.happens(c)

						if news == "held up" {
							synctest.Wait() // all of it waits behind what the workers are busy with
						}

						c.release()

						ran := c.ran()

						// Otherwise it depends on how much of it is seen, and when.
						if news == "held up" {
							require.Equal(t, test.wakes, ran)
						}

						require.Contains(t, ran, "a")

						require.Empty(t, c.wrong())

						c.end()
					})
				})
			}
		}
	}
}

// A task that is another one in a list is told from the one that was known, even if it has the same version and was created
// in the same moment, as it is when the state's clock stands still.
func TestListOfATaskThatWasCreatedAgainInTheSameMoment(t *testing.T) {
	for _, cached := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCrew(t, newState(), cached, "a", "b", "c")
			c.start()
			c.ran()

			c.add("t", "a")
			synctest.Wait()
			c.faults.set(func() { c.faults.forget = true })
			c.faults.breakAll(conformance.StrResourceType, errBroken)
			synctest.Wait()
			c.drop("t")
			c.add("t", "b")

			require.Equal(t, []resource.ID{"a", "b"}, c.ran())
			require.Empty(t, c.wrong())

			c.end()
		})
	}
}

// Former labels are not taken for those of a write that was never shown, though they are mapped under its version: whoever
// that write concerned is not told, and has nothing to be told of.
func TestWhatWasNeverShownIsNotMapped(t *testing.T) {
	for _, distinct := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := newCrew(t, newState(), true, "a", "b")
			c.distinct = distinct
			c.add("t", "b")
			c.start()
			c.ran()

			c.hold()
			c.give("t", "a")
			synctest.Wait() // it is about to be mapped, with its former labels
			c.faults.set(func() { c.faults.forget, c.faults.refuse[conformance.StrResourceType] = true, errBroken })
			c.faults.breakAll(conformance.StrResourceType, errBroken)
			synctest.Wait()
			c.drop("t")
			c.add("t")
			c.give("t", "b")
			c.release()
			require.Equal(t, []resource.ID{"a", "b"}, c.ran())

			c.give("t")
			c.faults.set(func() { delete(c.faults.refuse, conformance.StrResourceType) })
			require.Equal(t, []resource.ID{"a"}, c.ran())
			require.Empty(t, c.wrong())

			c.end()
		})
	}
}

// A destroy that shows labels which nobody has seen before is mapped with those that were known, too.
func TestDestroyThatShowsOtherLabels(t *testing.T) {
	for _, cached := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			first, last := stored("a", 1, 1), stored("a", 1, 3)
			first.Metadata().Labels().Set("parent", "p")
			last.Metadata().Labels().Set("parent", "q")

			st := &script{State: newState()}
			st.call = func(ctx context.Context, _ int, ch chan<- []state.Event, _ state.WatchKindOptions) error {
				return play(ctx, ch, []state.Event{{Type: state.Created, Resource: first}, bootstrapped},
					[]state.Event{{Type: state.Destroyed, Resource: last}})
			}

			var cfg runtime.Config
			if cached {
				cfg = cachedSources()
			}

			w := newWorld(t, st, cfg, nil)

			var parents journal[string]

			w.register(&queued{
				name: "q", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQMapped)}},
				mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
					parent, _ := md.Labels().Get("parent")
					parents.add(parent)

					return nil, nil
				},
			})
			w.start()
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"q", "p"}, parents.all())
			w.end()
		})
	}
}
