package cache

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

var (
	_ state.Teardowner           = (*cachedState)(nil)
	_ state.TeardownAndDestroyer = (*cachedState)(nil)
)

// cachedState is the state with Get and List of cached kinds answered from memory.
type cachedState struct {
	state.CoreState

	inner   state.State
	cache   *Cache
	barrier Barrier
}

// Barrier returns when the caches of the kinds show everything that was written before the call, or when the context
// ends, with its error.
type Barrier func(ctx context.Context, kinds ...resource.Kind) error

// State returns the state with reads of cached kinds answered by the cache, for hosts. It waits for the first
// contents, as controllers do. Before the engine runs and after it has ended, and for reads with options that a cache
// can not serve, it reads the state. Writes and watches go to the state always, so a read may be older than a write
// that has just returned; the state that is returned has a method Barrier to wait for that, which calls the barrier.
func (c *Cache) State(st state.State, barrier Barrier) state.CoreState {
	return &cachedState{CoreState: st, inner: st, cache: c, barrier: barrier}
}

// Barrier returns when the caches of the kinds show everything that was written before the call.
func (s *cachedState) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	return s.barrier(ctx, kinds...)
}

// reader is who waits, when the host does.
const reader = "CachedState"

// Get implements [state.CoreState].
func (s *cachedState) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	if c := s.cache.Collection(reduced.KindOf(ptr)); c != nil && ServesGet(opts) {
		view, ok, err := c.View(ctx, reader)
		if err != nil {
			return nil, err
		}

		if ok {
			return view.Get(ptr.ID())
		}
	}

	return s.inner.Get(ctx, ptr, opts...)
}

// List implements [state.CoreState].
func (s *cachedState) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	if c := s.cache.Collection(reduced.KindOf(kind)); c != nil {
		if options, served := ServesList(opts); served {
			view, ok, err := c.View(ctx, reader)
			if err != nil {
				return resource.List{}, err
			}

			if ok {
				return view.List(options), nil
			}
		}
	}

	return s.inner.List(ctx, kind, opts...)
}

// Teardown implements [state.Teardowner] with what the state itself has.
func (s *cachedState) Teardown(ctx context.Context, ptr resource.Pointer, opts ...state.TeardownOption) (bool, error) {
	return s.inner.Teardown(ctx, ptr, opts...)
}

// TeardownAndDestroy implements [state.TeardownAndDestroyer] with what the state itself has.
func (s *cachedState) TeardownAndDestroy(ctx context.Context, ptr resource.Pointer, opts ...state.TeardownAndDestroyOption) error {
	return s.inner.TeardownAndDestroy(ctx, ptr, opts...)
}

// ServesGet tells whether a cache can answer a Get with the options: all but those that ask for another form of the
// resource.
func ServesGet(opts []state.GetOption) bool {
	if len(opts) == 0 {
		return true
	}

	var options state.GetOptions

	for _, opt := range opts {
		opt(&options)
	}

	return options.UnmarshalOptions == state.UnmarshalOptions{}
}

// ServesList evaluates the options of a List and tells whether a cache can answer it.
func ServesList(opts []state.ListOption) (state.ListOptions, bool) {
	var options state.ListOptions

	for _, opt := range opts {
		opt(&options)
	}

	return options, options.UnmarshalOptions == state.UnmarshalOptions{}
}
