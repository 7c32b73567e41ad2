package runtime_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stepped is a state of which it can be told what happens between a call and its answer, and that shows the events of
// aggregated watches one by one.
type stepped struct {
	state.CoreState

	// mu guards the fields below.
	mu sync.Mutex
	// planned is what happens once, before or after the next call of a kind.
	planned map[string]func()
	held    bool
	// failing is what the next Get returns, once; nil is what it should.
	failing error
	// distant is whether what is written is left with the time of creation that the caller gave it, as over a connection.
	distant bool

	// tokens lets an event pass each while events are held.
	tokens chan struct{}
}

func newStepped(inner state.State) *stepped {
	return &stepped{CoreState: inner, planned: map[string]func(){}, tokens: make(chan struct{}, 100)}
}

// once has something happen at the next moment of the name: "before get", "after get", "before create", "after destroy", or
// "before watch".
func (s *stepped) once(moment string, does func()) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.planned[moment] = does
}

// fails has the next Get fail.
func (s *stepped) fails(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.failing = err
}

func (s *stepped) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	err := s.failing
	s.failing = nil

	return err
}

func (s *stepped) at(moment string) {
	s.mu.Lock()
	does := s.planned[moment]
	delete(s.planned, moment)
	s.mu.Unlock()

	if does != nil {
		does()
	}
}

// unseen returns for which moments something is still planned.
func (s *stepped) unseen() (moments []string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for moment := range s.planned {
		moments = append(moments, moment)
	}

	return moments
}

// hold keeps events back until they are released, but for those that are let through.
func (s *stepped) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.held = true
}

func (s *stepped) holds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.held
}

// let lets one event through.
func (s *stepped) let() { s.tokens <- struct{}{} }

func (s *stepped) release() {
	s.mu.Lock()
	s.held = false
	s.mu.Unlock()

	s.let() // whatever waits for it
}

func (s *stepped) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	s.at("before get")
	defer s.at("after get")

	if err := s.failure(); err != nil {
		return nil, err
	}

	return s.CoreState.Get(ctx, ptr, opts...)
}

func (s *stepped) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	s.at("before create")

	return s.answered(res, func() error { return s.CoreState.Create(ctx, res, opts...) })
}

func (s *stepped) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	return s.answered(res, func() error { return s.CoreState.Update(ctx, res, opts...) })
}

// answered makes a call that tells the resource what it has come to.
func (s *stepped) answered(res resource.Resource, call func() error) error {
	s.mu.Lock()
	distant := s.distant
	s.mu.Unlock()

	if distant {
		defer res.Metadata().SetCreated(res.Metadata().Created())
	}

	return call()
}

func (s *stepped) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	defer s.at("after destroy")

	return s.CoreState.Destroy(ctx, ptr, opts...)
}

func (s *stepped) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	s.at("before watch")

	return relayed(ctx, s.CoreState, kind, opts, func(ctx context.Context, batch []state.Event) bool { return s.show(ctx, batch, ch) })
}

// show passes the events of a batch on one by one.
func (s *stepped) show(ctx context.Context, batch []state.Event, ch chan<- []state.Event) bool {
	for i := range batch {
		if s.holds() {
			select {
			case <-ctx.Done():
				return false
			case <-s.tokens:
			}
		}

		select {
		case <-ctx.Done():
			return false
		case ch <- batch[i : i+1]:
		}
	}

	return true
}

// ownedWorld is a world over a state that can be stepped, with a controller, "owner", that owns targets, among them x.
type ownedWorld struct {
	*world

	steps  *stepped
	faults *faulty
	owner  *lent
	others state.State // the state as others use it, with whom nothing interferes
	x      resource.Pointer
}

// inOwned runs a test in such a world, in which the first contents have been shown. All that was planned has to happen.
func inOwned(t *testing.T, test func(t *testing.T, o *ownedWorld)) {
	synctest.Test(t, func(t *testing.T) {
		o := &ownedWorld{others: newState(), owner: newLent("owner"), x: newTarget("x", 0).Metadata()}
		o.steps = newStepped(o.others)
		o.faults = newFaulty(state.WrapCore(o.steps))
		o.world = newWorld(t, o.faults.asState(), cachedTargets(), nil)

		o.register(o.owner)
		o.start()
		synctest.Wait()

		test(t, o)

		assert.Empty(t, o.steps.unseen())
		o.end()
	})
}

// do has the owner make the call and waits for it.
func (o *ownedWorld) do(call func(ctx context.Context, r controller.Runtime)) { o.owner.do(call) }

// getter is the runtime of a controller, or a state.
type getter interface {
	Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error)
}

// read returns the number of x, or 0 if there is none.
func (o *ownedWorld) read(ctx context.Context, r getter) int {
	res, err := r.Get(ctx, o.x)
	if state.IsNotFoundError(err) {
		return 0
	}

	assert.NoError(o.t, err)

	if err != nil {
		return -1
	}

	return res.(*target).TypedSpec().N
}

// sees requires the number that the owner reads of x.
func (o *ownedWorld) sees(n int, when ...any) {
	o.t.Helper()

	o.do(func(ctx context.Context, r controller.Runtime) {
		assert.Equal(o.t, n, o.read(ctx, r), when...)
	})
}

// destroysWhile has the owner create x and destroy it, and something happen before the destroy is answered but after the
// stream has shown it.
func (o *ownedWorld) destroysWhile(happens func(ctx context.Context, r controller.Runtime)) {
	o.do(func(ctx context.Context, r controller.Runtime) {
		require.NoError(o.t, r.Create(ctx, newTarget("x", 1)))
		tick()

		o.steps.once("after destroy", func() {
			tick()
			happens(ctx, r)
		})
		require.NoError(o.t, r.Destroy(ctx, o.x))
	})
}

// othersCreate has somebody else create x.
func (o *ownedWorld) othersCreate(n int, opts ...state.CreateOption) {
	require.NoError(o.t, o.others.Create(o.t.Context(), newTarget("x", n), opts...))
}

// othersSet has somebody else change the number of x.
func (o *ownedWorld) othersSet(n int, opts ...state.UpdateOption) {
	_, err := o.others.UpdateWithConflicts(o.t.Context(), o.x, func(res resource.Resource) error {
		res.(*target).TypedSpec().N = n

		return nil
	}, opts...)
	require.NoError(o.t, err)
}

// tick lets the clock move on, and all that is not held back come to rest. Unlike [elapse] it may be called by several.
func tick() { <-time.After(time.Millisecond) }
