package runtime_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
)

// A destroy ends the life that it has found, and no other: while the stream shows one life after the other, of which the
// owner has ended each, the owner sees none of them.
func TestEachDestroyLearnsForItself(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.hold()
		defer o.steps.release()

		for range 2 {
			tick()
			o.othersCreate(1, state.WithCreateOwner("owner"))
			tick()
			o.do(func(ctx context.Context, r controller.Runtime) { require.NoError(t, r.Destroy(ctx, o.x)) })
		}

		for i := range 4 {
			o.steps.let()
			tick()
			o.sees(0, "after event %d", i+1)
		}
	})
}

// A state that panics while it is asked which life a destroy is about leaves nothing open: later lives are told apart even
// if they begin at one time.
func TestPanicOfTheStateBeforeADestroy(t *testing.T) {
	for _, panics := range []bool{false, true} {
		t.Run(fmt.Sprint(panics), func(t *testing.T) {
			inOwned(t, func(t *testing.T, o *ownedWorld) {
				if panics {
					o.steps.once("before get", func() { panic("the state") })
				}

				o.do(func(ctx context.Context, r controller.Runtime) {
					destroy := func() { require.True(t, state.IsNotFoundError(r.Destroy(ctx, o.x))) }

					if panics {
						require.Panics(t, destroy)
					} else {
						destroy()
					}
				})

				o.steps.hold()
				defer o.steps.release()

				o.do(func(ctx context.Context, r controller.Runtime) {
					require.NoError(t, r.Create(ctx, newTarget("x", 1)))
					require.NoError(t, r.Destroy(ctx, o.x))
					require.NoError(t, r.Create(ctx, newTarget("x", 2)))
				})
				o.sees(2)
			})
		})
	}
}

// A destroy of which nobody can tell what life it would end is not made: the stream may show that life yet.
func TestDestroyOfWhatCanNotBeLearned(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.hold()
		defer o.steps.release()

		o.othersCreate(1, state.WithCreateOwner("owner"))
		tick()

		o.do(func(ctx context.Context, r controller.Runtime) {
			o.steps.fails(errBroken)

			require.ErrorIs(t, r.Destroy(ctx, o.x), errBroken)
			require.NoError(t, r.Destroy(ctx, o.x))
		})

		for i := range 2 {
			o.steps.let()
			tick()
			o.sees(0, "after event %d", i+1)
		}
	})
}

// Over a connection, what was created keeps the time that its maker gave it, and may be updated with it. Its owner sees what
// others make of it all the same, and that it has gone.
func TestUpdateWithAnotherTimeOfCreation(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.mu.Lock()
		o.steps.distant = true
		o.steps.mu.Unlock()

		x := newTarget("x", 1)

		tick()
		o.steps.hold()
		defer o.steps.release()

		o.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, x))
			require.Equal(t, 1, o.read(ctx, r), "from now on what is written is kept")

			x.TypedSpec().N = 2
			require.NoError(t, r.Update(ctx, x))
			require.Equal(t, 2, o.read(ctx, r))
		})

		o.othersSet(3, state.WithUpdateOwner("owner"))

		for _, n := range []int{2, 2, 3} {
			o.steps.let()
			tick()
			o.sees(n)
		}

		o.do(func(ctx context.Context, r controller.Runtime) { require.NoError(t, r.Destroy(ctx, o.x)) })
		o.sees(0)
		o.steps.let()
		tick()
		o.sees(0)
	})
}
