package stateadapter_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/stateadapter"
)

func TestModifyCreatesOrUpdates(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)

	created, err := b.ModifyWithResult(t.Context(), number("a", 0), set(1))
	require.NoError(t, err)
	require.True(t, resource.Equal(mustGet(t, b, "a"), created))

	updated, err := b.ModifyWithResult(t.Context(), number("a", 0), set(2))
	require.NoError(t, err)
	require.True(t, resource.Equal(mustGet(t, b, "a"), updated))
	require.Equal(t, 2, b.value(t, "a"))

	// Nothing to change is no write.
	writes := b.counted.writes.Load()
	require.NoError(t, b.Modify(t.Context(), number("a", 0), set(2)))
	require.Equal(t, writes, b.counted.writes.Load())
}

func TestModifyExpectsAPhase(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputShared), nil)
	b.create(t, me, number("a", 1))

	_, err := b.Teardown(t.Context(), ptr("a"))
	require.NoError(t, err)

	require.True(t, state.IsPhaseConflictError(b.Modify(t.Context(), number("a", 0), set(2))))
	require.NoError(t, b.Modify(t.Context(), number("a", 0), set(3), controller.WithExpectedPhaseAny()))
	require.NoError(t, b.Modify(t.Context(), number("a", 0), set(4), controller.WithExpectedPhase(resource.PhaseTearingDown)))
	require.Equal(t, 4, b.value(t, "a"))
}

// Items that share an output may be worked on by several workers at once: none of them gets an error, and no update is
// lost.
func TestModifyRacesForOneOutput(t *testing.T) {
	t.Parallel()

	const workers, outputs = 8, 50

	b := newBench(t, writes(controller.OutputShared), nil)

	var work sync.WaitGroup

	for range workers {
		work.Go(func() {
			for i := range outputs {
				assert.NoError(t, b.Modify(t.Context(), number(fmt.Sprint(i), 0), func(res resource.Resource) error {
					n := res.(*conformance.IntResource)
					n.SetValue(n.Value() + 1)

					return nil
				}))
			}
		})
	}

	work.Wait()

	for i := range outputs {
		require.Equal(t, workers, b.value(t, fmt.Sprint(i)))
	}
}

// interrupted is a state in which others act just before a creation.
type interrupted struct {
	state.CoreState

	before []func()
}

func (s *interrupted) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if len(s.before) > 0 {
		act := s.before[0]
		s.before = s.before[1:]

		act()
	}

	return s.CoreState.Create(ctx, res, opts...)
}

// Whatever others do in between, the modification is made on what is there in the end.
func TestModifyTriesAgain(t *testing.T) {
	t.Parallel()

	core := inmem.NewState(ns)
	others := state.WrapCore(core)
	st := &interrupted{CoreState: core}

	appear := func() { require.NoError(t, others.Create(t.Context(), number("a", 10), state.WithCreateOwner(me))) }

	st.before = []func(){appear}

	b := newBench(t, writes(controller.OutputShared), func(cfg *stateadapter.Config) { cfg.State = state.WrapCore(st) })

	var seen []int

	increment := func(res resource.Resource) error {
		n := res.(*conformance.IntResource)
		seen = append(seen, n.Value())
		n.SetValue(n.Value() + 1)

		// What was there for the update is gone by the time that it is written, the first time.
		if n.Value() == 11 {
			require.NoError(t, others.Destroy(t.Context(), ptr("a"), state.WithDestroyOwner(me)))
		}

		return nil
	}

	res, err := b.ModifyWithResult(t.Context(), number("a", 0), increment)
	require.NoError(t, err)
	require.Equal(t, []int{0, 10}, seen, "once for the creation, once for what had come in between")
	require.Equal(t, 1, res.(*conformance.IntResource).Value(), "and then it was created after all")
}

// An error of the update function is the caller's own: it ends the modification and comes back as it is, also when it
// looks like one of the state's.
func TestErrorsOfTheUpdateFunctionComeBack(t *testing.T) {
	t.Parallel()

	_, missing := newBench(t, reads(controller.InputWeak), nil).Get(t.Context(), ptr("somewhere else"))
	require.True(t, state.IsNotFoundError(missing))

	conflict := newBench(t, writes(controller.OutputShared), nil).Update(t.Context(), number("a", 0))

	for _, own := range []error{errors.New("mine"), missing, fmt.Errorf("wrapped: %w", missing), conflict} {
		for _, exists := range []bool{false, true} {
			b := newBench(t, writes(controller.OutputShared), nil)

			if exists {
				b.create(t, me, number("a", 1))
			}

			before := b.counted.writes.Load()
			calls := 0

			_, err := b.ModifyWithResult(t.Context(), number("a", 0), func(resource.Resource) error {
				calls++

				return own
			})

			require.Equal(t, own, err, "exists: %v", exists)
			require.Equal(t, 1, calls)
			require.Equal(t, before, b.counted.writes.Load(), "nothing is written")
		}
	}
}

// Whatever the function writes into what it gets, the resource that was asked for is modified, or none.
func TestModifyKeepsToOneResource(t *testing.T) {
	t.Parallel()

	for _, exists := range []bool{false, true} {
		for _, other := range []resource.Metadata{
			resource.NewMetadata(ns, intType, "b", resource.VersionUndefined),
			resource.NewMetadata(ns, "Foreign", "a", resource.VersionUndefined),
			resource.NewMetadata("elsewhere", intType, "a", resource.VersionUndefined),
		} {
			b := newBench(t, writes(controller.OutputShared), nil)
			b.create(t, me, number("b", 1))

			if exists {
				b.create(t, me, number("a", 1))
			}

			before := b.counted.writes.Load()

			err := b.Modify(t.Context(), number("a", 0), func(res resource.Resource) error {
				other.SetVersion(mustGet(t, b, "b").Metadata().Version())
				*res.Metadata() = other

				return nil
			})

			var refused *stateadapter.RefusedError

			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, stateadapter.ErrRenamed)
			require.Equal(t, "a", refused.Resource.ID())
			require.ErrorContains(t, err, "leave namespace, type and id as they are")
			require.Equal(t, before, b.counted.writes.Load(), "nothing is written")
		}
	}
}

// A state that says of a resource both that it is there and that it is not is asked until the context ends.
func TestModifyEndsWithItsContext(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	st := &torn{CoreState: inmem.NewState(ns), other: inmem.NewState(ns), patience: 10, lost: cancel}
	require.NoError(t, st.other.Create(ctx, number("a", 1)))

	b := newBench(t, writes(controller.OutputShared), func(cfg *stateadapter.Config) { cfg.State = state.WrapCore(st) })

	require.ErrorIs(t, b.Modify(ctx, number("a", 0), set(1)), context.Canceled)
	require.Equal(t, 0, st.patience)
}

// torn is a state that is at odds with itself, and asked for so long.
type torn struct {
	state.CoreState

	other    state.CoreState
	patience int
	lost     func()
}

func (s *torn) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if s.patience--; s.patience == 0 {
		s.lost()
	}

	return s.other.Create(ctx, res, opts...)
}

// A read that fails is no reason to create.
func TestModifyReportsFailuresOfTheState(t *testing.T) {
	t.Parallel()

	broken := errors.New("the state is away")

	b := newBench(t, writes(controller.OutputShared), func(cfg *stateadapter.Config) {
		cfg.State = state.WrapCore(failing{cfg.State, broken})
	})

	err := b.Modify(t.Context(), number("a", 0), set(1))
	require.ErrorIs(t, err, broken)
	require.Zero(t, b.counted.calls())
}

type failing struct {
	state.CoreState

	err error
}

func (s failing) Get(context.Context, resource.Pointer, ...state.GetOption) (resource.Resource, error) {
	return nil, s.err
}

// What a call of Modify keeps for the next one is nobody else's: neither that of a call made by update, nor of one after a failure.
func TestCallsOfModifyAreApart(t *testing.T) {
	t.Parallel()

	b := newBench(t, writes(controller.OutputExclusive), nil)
	b.create(t, me, number("a", 1), number("b", 1))

	ctx := t.Context()
	failure := errors.New("update failed")

	for round := range 3 {
		require.NoError(t, b.Modify(ctx, number("a", 0), func(res resource.Resource) error {
			if err := b.Modify(ctx, number("b", 0), set(10+round)); err != nil {
				return err
			}

			return set(20 + round)(res)
		}))
		require.Equal(t, 10+round, b.value(t, "b"))
		require.Equal(t, 20+round, b.value(t, "a"))

		require.ErrorIs(t, b.Modify(ctx, number("a", 0), func(resource.Resource) error { return failure }), failure)
		require.NoError(t, b.Modify(ctx, number(resource.ID("new"+strconv.Itoa(round)), 0), set(30)))
	}
}
