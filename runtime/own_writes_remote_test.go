package runtime_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// Over a connection, a creation does not tell when the state has created the resource. The owner sees what has become of
// it all the same, as soon as the cache shows that.
func TestOwnCreationsOverGRPC(t *testing.T) {
	number := func(id resource.ID, n int) *conformance.IntResource { return conformance.NewIntResource(far, id, n) }

	for name, create := range map[string]func(context.Context, controller.Runtime, resource.Resource) error{
		"create": func(ctx context.Context, r controller.Runtime, res resource.Resource) error {
			return r.Create(ctx, res)
		},
		"modify": func(ctx context.Context, r controller.Runtime, res resource.Resource) error {
			return r.Modify(ctx, res, func(resource.Resource) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLink(t)
			w := newWorld(t, l.remote(), runtime.Config{Options: []options.Option{options.WithCachedResource(far, conformance.IntResourceType)}}, nil)
			ctrl := newLent("owner")
			ctrl.outputs = []controller.Output{shared(conformance.IntResourceType)}

			w.register(ctrl)
			w.start()

			read := func(from getter, id resource.ID) int {
				res, err := from.Get(t.Context(), number(id, 0).Metadata())
				require.NoError(t, err)

				return res.(*conformance.IntResource).Value()
			}

			b := number("b", 0).Metadata()

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				require.NoError(t, create(ctx, r, number("a", 1)))
				require.Equal(t, 1, read(r, "a"), "from now on what is written is kept")
				require.NoError(t, create(ctx, r, number("b", 1)))
			})

			_, err := l.state.UpdateWithConflicts(t.Context(), b, func(res resource.Resource) error {
				res.(*conformance.IntResource).SetValue(2)

				return nil
			}, state.WithUpdateOwner("owner"))
			require.NoError(t, err)
			require.NoError(t, w.Barrier(t.Context(), b))
			require.Equal(t, 2, read(w.CachedState(), "b"))

			ctrl.do(func(ctx context.Context, r controller.Runtime) {
				require.Equal(t, 2, read(r, "b"), "changed by another")
				require.NoError(t, r.Destroy(ctx, b))
			})

			require.NoError(t, l.state.Create(t.Context(), number("b", 3)))
			require.NoError(t, w.Barrier(t.Context(), b))
			ctrl.do(func(_ context.Context, r controller.Runtime) {
				require.Equal(t, 3, read(r, "b"), "created again by another")
			})
		})
	}
}
