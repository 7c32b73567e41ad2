package runtime_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/kvutils"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A resource may have a million labels. It is cached, found by each of them, and mapped with those that it has lost.
func TestAMillionLabels(t *testing.T) {
	const many = 1_000_000

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil, cachedSources(), nil)

		var told []string

		w.register(&queued{name: "q",
			settings: controller.QSettings{Inputs: []controller.Input{targets(controller.InputQPrimary), sources(controller.InputQMapped)}},
			reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
				return nil
			},
			mapInput: func(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
				last, _ := md.Labels().Get("last")
				told = append(told, last+" of "+strconv.Itoa(len(md.Labels().Raw())))

				return nil, nil
			}})
		w.start()
		synctest.Wait()

		labelled := newSource("a", 1)
		labelled.Metadata().Labels().Do(func(labels kvutils.TempKV) {
			for i := range many {
				labels.Set("label-"+strconv.Itoa(i), "")
			}
		})
		w.create(labelled)
		synctest.Wait()

		w.edit("a", func(s *source) { s.Metadata().Labels().Set("last", "one") })
		synctest.Wait()
		w.edit("a", func(s *source) { s.Metadata().Labels().Set("last", "two") })
		synctest.Wait()
		assert.Equal(t, []string{" of 1000000", "one of 1000001", " of 1000000", "two of 1000001", "one of 1000001"}, told)

		for _, label := range []string{"label-0", "label-999999", "last"} {
			list, err := w.CachedState().List(t.Context(), sourcePtr(""), state.WithLabelQuery(resource.LabelExists(label)))
			require.NoError(t, err)
			assert.Len(t, list.Items, 1, label)
		}

		w.destroy("a")
		synctest.Wait()
		assert.Len(t, told, 6)
		assert.Empty(t, w.Health().Problems())
		w.end()
	})
}
