package runtime_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
)

// A destroy may be answered after the stream has shown it, and after somebody else has created the resource again. What
// the owner knows of its destroy hides nothing of that.
func TestDestroyThatIsAnsweredAfterARecreation(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.destroysWhile(func(context.Context, controller.Runtime) {
			o.othersCreate(2)
			tick()
		})

		elapse(time.Hour)
		o.othersSet(3)
		elapse(time.Hour)
		o.sees(3, "an hour after the change")
	})
}

// The same, but it is the owner that has created it again, by another of its workers.
func TestDestroyThatIsAnsweredAfterAnOwnCreation(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.destroysWhile(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 2)))
		})

		elapse(time.Hour)
		o.sees(2)
	})
}

// A read that asks the state, and is told that there is nothing, hides nothing that somebody creates before the answer is
// there.
func TestAnswerOfTheStateBesideARecreation(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		// Contents that come after both writes show neither, so the owner can not know what has become of them.
		reopen := make(chan struct{})

		o.steps.once("before watch", func() { <-reopen })
		o.faults.set(func() { o.faults.forget = true })
		o.faults.breakAll(targetType, errBroken)
		elapse(10 * time.Second)

		o.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))
			tick()
			require.NoError(t, r.Destroy(ctx, o.x))
		})
		close(reopen)
		elapse(time.Hour)

		o.do(func(ctx context.Context, r controller.Runtime) {
			o.steps.once("after get", func() {
				o.othersCreate(2)
				tick()
			})
			o.read(ctx, r)
		})

		elapse(time.Hour)
		o.sees(2, "an hour after the creation")
	})
}

// An answer of the state about a write that was forgotten meanwhile is not taken for one about the next write.
func TestAnswerAboutAForgottenNote(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.hold()

		o.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))
			tick()
			require.NoError(t, o.others.Destroy(ctx, o.x, state.WithDestroyOwner("owner")))

			answer := make(chan struct{})
			o.steps.once("after get", func() { <-answer })

			var reader sync.WaitGroup

			reader.Go(func() { o.read(ctx, r) })
			synctest.Wait()

			// The stream shows what has become of the first write, which is the end of it.
			o.steps.release()
			tick()
			o.othersCreate(2)
			tick()

			o.steps.once("before create", func() {
				close(answer)
				reader.Wait()
			})
			require.True(t, state.IsConflictError(r.Create(ctx, newTarget("x", 3))))
		})

		elapse(time.Hour)
		o.sees(2, "an hour after the creation")
	})
}

// Of two reads that ask the state at once, the older answer does not take back what the newer one has shown.
func TestTwoReadersOfOneOwner(t *testing.T) {
	inOwned(t, func(t *testing.T, o *ownedWorld) {
		o.steps.hold()
		defer o.steps.release()

		o.do(func(ctx context.Context, r controller.Runtime) {
			require.NoError(t, r.Create(ctx, newTarget("x", 1)))

			var (
				readers [2]sync.WaitGroup
				answers [2]chan struct{}
				seen    [2]int
			)

			for i := range readers {
				answers[i] = make(chan struct{})
				o.steps.once("after get", func() { <-answers[i] })

				readers[i].Go(func() { seen[i] = o.read(ctx, r) })
				synctest.Wait()

				if i == 0 {
					o.othersSet(2, state.WithUpdateOwner("owner"))
				}
			}

			for i := range readers {
				close(answers[i])
				readers[i].Wait()
			}

			require.Equal(t, 2, seen[1])
			require.Equal(t, 2, o.read(ctx, r), "it was seen before")
		})
	})
}
