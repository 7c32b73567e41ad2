package runtime_test

import (
	"context"
	"expvar"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// lossy is a state whose aggregated watches of sources leave out events without breaking, and may be slow.
type lossy struct {
	state.CoreState

	// marks has the bookmark of what is left out passed on.
	marks bool

	mu    sync.Mutex
	lose  func(state.Event) bool // nil loses nothing
	delay func() time.Duration   // before each batch; nil is none
	list  func(ctx context.Context, list func() (resource.List, error)) (resource.List, error)
	lost  int
}

// losing has events left out from now on; nil ends it.
func (l *lossy) losing(lose func(state.Event) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.lose = lose
}

// losses counts what was left out.
func (l *lossy) losses() int {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.lost
}

func (l *lossy) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	list := func() (resource.List, error) { return l.CoreState.List(ctx, kind, opts...) }

	if l.list == nil || kind.Type() != sourceType {
		return list()
	}

	return l.list(ctx, list)
}

func (l *lossy) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if kind.Type() != sourceType {
		return l.CoreState.WatchKindAggregated(ctx, kind, ch, opts...)
	}

	return relayed(ctx, l.CoreState, kind, opts, func(ctx context.Context, batch []state.Event) bool { return l.pass(ctx, batch, ch) })
}

func (l *lossy) pass(ctx context.Context, batch []state.Event, ch chan<- []state.Event) bool {
	batch, delay := l.leave(batch)

	if delay > 0 {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(delay):
		}
	}

	if len(batch) == 0 {
		return true
	}

	select {
	case <-ctx.Done():
		return false
	case ch <- batch:
		return true
	}
}

// leave returns what is not left out of a batch, and how long it takes to come.
func (l *lossy) leave(batch []state.Event) (left []state.Event, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, event := range batch {
		change := event.Type == state.Created || event.Type == state.Updated || event.Type == state.Destroyed

		switch {
		case !change || l.lose == nil || !l.lose(event):
			left = append(left, event)
		case l.marks:
			left = append(left, state.Event{Type: state.Noop, Bookmark: event.Bookmark})

			fallthrough
		default:
			l.lost++
		}
	}

	if l.delay != nil {
		delay = l.delay()
	}

	return left, delay
}

// counted returns a count of the engine that runs.
func counted(name string) int {
	count := int64(0)

	expvar.Get("switchyard").(*expvar.Map).Do(func(engine expvar.KeyValue) {
		if value, ok := engine.Value.(*expvar.Map).Get(name).(*expvar.Int); ok {
			count += value.Value()
		}
	})

	return int(count)
}
