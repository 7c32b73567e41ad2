package incidents_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is well waits for nothing, whatever goes wrong beside it.
func TestNoFalseAlarms(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.withQueues(
			&maker{name: "TemplateController", from: "Templates", to: "Files", does: func(_ context.Context, _ controller.QRuntime, id resource.ID) error {
				if id == "bad" {
					return errors.New("unexpected }")
				}

				return nil
			}},
			&maker{name: "ServiceController", from: "Files", to: "Services", holds: true},
			&maker{name: "ProcessController", from: "Services", to: "Processes", needs: []resource.Type{"Hosts"}},
			&maker{name: "BrokenController", from: "Sensors", to: "Reports", does: fails("no sensor answers")},
			&maker{name: "SlowController", from: "Commits", to: "Images", does: takes(time.Hour)},
		).with(
			&classic{name: "SummaryController", inputs: append(weak("Files"), weak("Reports")...), outputs: exclusive("Summaries"), pass: func(ctx context.Context, r controller.Runtime) error {
				if _, err := r.List(ctx, pointer("Reports", "")); err != nil {
					return err
				}

				return r.Modify(ctx, newThing("Summaries", "all", ""), func(resource.Resource) error { return nil })
			}},
		).start()

		for _, kind := range []resource.Type{"Hosts", "Templates"} {
			w.write(kind, "good", "x")
		}

		w.write("Templates", "bad", "{{")
		w.write("Templates", "alone", "x") // has no host
		w.write("Sensors", "s", "21")
		w.write("Commits", "c1", "fix")
		w.write("Commits", "c2", "fix")

		report := newThing("Reports", "old", "")
		report.spec.Conditions = []condition{{"Ready", "False", "Old", "of last year"}}
		require.NoError(t, w.state.Create(t.Context(), report))
		w.hold("Files", "alone", "GoneController")
		w.tearDown("Sensors", "s")
		w.passes(time.Minute)

		for _, kind := range []resource.Type{"Templates", "Files", "Services", "Processes", "Hosts"} {
			b, err := w.answers.BlockedResource(t.Context(), ref(kind, "good"))
			require.NoError(t, err)
			assert.False(t, b.Waits, "%s:\n%s", kind, b)
			assert.Empty(t, b.Roots)
		}

		b, err := w.answers.BlockedController(t.Context(), "ServiceController")
		require.NoError(t, err)
		assert.False(t, b.Waits, "%s", b)

		why, err := w.answers.WhyResource(t.Context(), ref("Processes", "good"))
		require.NoError(t, err)
		require.Len(t, why.Roots, 1, "%s", why)
		assert.Equal(t, "Templates(app/good) v1: created, from outside", why.Roots[0].Text)
	})
}
