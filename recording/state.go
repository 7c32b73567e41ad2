package recording

import (
	"context"
	"hash/fnv"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// State returns a state that records what is written to it. The engine runs on it, and the host writes to it, so that a
// recording has all changes. What it held before is not in the recording.
func (r *Recorder) State(st state.CoreState) state.State {
	return state.WrapCore(&recordedState{st, r})
}

// recordedState records each change while no other one of the same resource can come in between.
type recordedState struct {
	state.CoreState

	rec *Recorder
}

// Create implements [state.CoreState].
func (s *recordedState) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	defer s.rec.stripes.lock(nameOf(res.Metadata())).Unlock()

	before := res.Metadata().Version()

	if err := s.CoreState.Create(ctx, res, opts...); err != nil {
		return err
	}

	return s.wrote(ctx, res, before)
}

// Update implements [state.CoreState].
func (s *recordedState) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	defer s.rec.stripes.lock(nameOf(res.Metadata())).Unlock()

	before := res.Metadata().Version()

	if err := s.CoreState.Update(ctx, res, opts...); err != nil {
		return err
	}

	return s.wrote(ctx, res, before)
}

// wrote records what a resource has become. A remote state does not tell, and is asked.
func (s *recordedState) wrote(ctx context.Context, res resource.Resource, before resource.Version) error {
	seen(ctx)

	if !res.Metadata().Version().Equal(before) {
		s.rec.change(ctx, nameOf(res.Metadata()), res)

		return nil
	}

	now, err := s.Get(ctx, res.Metadata())

	switch {
	case err == nil:
		s.rec.change(ctx, nameOf(now.Metadata()), now)
	case !state.IsNotFoundError(err): // else it is gone again, which is recorded by whoever has destroyed it
		s.rec.fail(err)
	}

	return nil
}

// Destroy implements [state.CoreState].
func (s *recordedState) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	defer s.rec.stripes.lock(nameOf(ptr)).Unlock()

	if err := s.CoreState.Destroy(ctx, ptr, opts...); err != nil {
		return err
	}

	seen(ctx)

	s.rec.change(ctx, nameOf(ptr), nil)

	return nil
}

// stripes are locks for resources: one resource has always the same, and a write of one seldom waits for another's.
type stripes [64]sync.Mutex

// lock locks a resource.
func (s *stripes) lock(n name) *sync.Mutex {
	h := fnv.New32a()
	_, _ = io.WriteString(h, n.String()) // a hash takes everything

	mu := &s[h.Sum32()%uint32(len(s))]
	mu.Lock()

	return mu
}

// mark is the call of a recorded pass that a write to the state belongs to.
type mark struct {
	call int
	// seen tells that the recorder has seen a write of it.
	seen atomic.Bool
}

type markKey struct{}

func withMark(ctx context.Context, m *mark) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}

// seen marks the call that a write belongs to, if it belongs to one.
func seen(ctx context.Context) {
	if m := markOf(ctx); m != nil {
		m.seen.Store(true)
	}
}

// markOf returns the mark of a write; nil if it comes from outside.
func markOf(ctx context.Context) *mark {
	m, _ := ctx.Value(markKey{}).(*mark)

	return m
}
