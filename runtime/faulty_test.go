package runtime_test

import (
	"context"
	"errors"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// faulty is a state whose watches can be broken, refused, silenced and counted.
type faulty struct {
	state.CoreState

	mu      sync.Mutex
	opens   map[resource.Type][]opened
	live    map[*relay]struct{}
	refuse  map[resource.Type]error // refuse to open watches of the type
	forget  bool                    // refuse every bookmark
	noBooks bool                    // never send bookmarks
	held    chan struct{}           // while it is open, aggregated watches pass nothing on; nil when nothing is held
}

// opened is how a watch was opened.
type opened struct {
	resumed, contents, single bool
}

// relay passes events of one open watch on.
type relay struct {
	typ    resource.Type
	single bool
	broken chan error
	cancel context.CancelFunc
	silent chan struct{} // closed to swallow all events from then on
}

func newFaulty(inner state.State) *faulty {
	return &faulty{CoreState: inner, opens: map[resource.Type][]opened{}, live: map[*relay]struct{}{}, refuse: map[resource.Type]error{}}
}

func (f *faulty) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	r, ctx, err := f.open(ctx, kind, false, opts)
	if err != nil {
		return err
	}

	inner := make(chan []state.Event)
	if err := f.CoreState.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		r.cancel()

		return err
	}

	go pass(ctx, f, r, inner, ch, func(err error) []state.Event {
		return []state.Event{{Type: state.Errored, Error: err}}
	}, f.strip)

	return nil
}

func (f *faulty) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	r, ctx, err := f.open(ctx, kind, true, opts)
	if err != nil {
		return err
	}

	inner := make(chan state.Event)
	if err := f.CoreState.WatchKind(ctx, kind, inner, opts...); err != nil {
		r.cancel()

		return err
	}

	go pass(ctx, f, r, inner, ch, func(err error) state.Event {
		return state.Event{Type: state.Errored, Error: err}
	}, func(event state.Event) state.Event { return f.strip([]state.Event{event})[0] })

	return nil
}

// pass passes on what an open watch sends until it is broken or ended.
func pass[E any](ctx context.Context, f *faulty, r *relay, inner <-chan E, ch chan<- E, failure func(error) E, strip func(E) E) {
	defer f.close(r)

	fail := func(err error) {
		select {
		case ch <- failure(err):
		case <-ctx.Done():
		}
	}

	for {
		var sent E

		select {
		case <-ctx.Done():
			return
		case err := <-r.broken:
			fail(err)

			return
		case sent = <-inner:
		}

		select {
		case <-r.silent:
			continue
		default:
		}

		select {
		case err := <-r.broken: // what was held is lost with the watch
			fail(err)

			return
		case <-f.holding(r):
		case <-ctx.Done():
			return
		}

		select {
		case ch <- strip(sent):
		case <-ctx.Done():
			return
		}
	}
}

// hold keeps the events of all aggregated watches back until release is called.
func (f *faulty) hold() {
	f.set(func() { f.held = make(chan struct{}) })
}

func (f *faulty) release() {
	f.set(func() {
		if f.held != nil {
			close(f.held)
		}

		f.held = nil
	})
}

// holding returns a channel that is closed while nothing is held.
func (f *faulty) holding(r *relay) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.held == nil || r.single {
		passed := make(chan struct{})
		close(passed)

		return passed
	}

	return f.held
}

var errForgotten = bookmarkError{errors.New("bookmark is too old")}

type bookmarkError struct{ error }

func (bookmarkError) InvalidWatchBookmarkError() {}

func (f *faulty) open(ctx context.Context, kind resource.Kind, single bool, opts []state.WatchKindOption) (*relay, context.Context, error) {
	var options state.WatchKindOptions

	for _, opt := range opts {
		opt(&options)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.refuse[kind.Type()]; err != nil {
		return nil, nil, err
	}

	resumed := options.StartFromBookmark != nil
	f.opens[kind.Type()] = append(f.opens[kind.Type()], opened{resumed: resumed, contents: options.BootstrapContents, single: single})

	if resumed && f.forget {
		return nil, nil, errForgotten
	}

	ctx, cancel := context.WithCancel(ctx)
	r := &relay{typ: kind.Type(), single: single, broken: make(chan error, 1), cancel: cancel, silent: make(chan struct{})}
	f.live[r] = struct{}{}

	return r, ctx, nil
}

func (f *faulty) close(r *relay) {
	r.cancel()

	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.live, r)
}

func (f *faulty) strip(events []state.Event) []state.Event {
	f.mu.Lock()
	defer f.mu.Unlock()

	if !f.noBooks {
		return events
	}

	stripped := make([]state.Event, len(events))

	for i, event := range events {
		event.Bookmark = nil
		stripped[i] = event
	}

	return stripped
}

// breakAll breaks the open watches of the type with the error.
func (f *faulty) breakAll(typ resource.Type, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for r := range f.live {
		if r.typ == typ {
			select {
			case r.broken <- err:
			default:
			}
		}
	}
}

// silence has the open watches of the type swallow everything.
func (f *faulty) silence(typ resource.Type) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for r := range f.live {
		if r.typ == typ {
			select {
			case <-r.silent:
			default:
				close(r.silent)
			}
		}
	}
}

func (f *faulty) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()

	change()
}

// opened returns how watches of the type were opened so far.
func (f *faulty) opened(typ resource.Type) []opened {
	f.mu.Lock()
	defer f.mu.Unlock()

	return append([]opened(nil), f.opens[typ]...)
}

// open counts the open watches of the type.
func (f *faulty) watching(typ resource.Type) int {
	f.mu.Lock()
	defer f.mu.Unlock()

	count := 0

	for r := range f.live {
		if r.typ == typ {
			count++
		}
	}

	return count
}

func (f *faulty) asState() state.State { return state.WrapCore(f) }

// relayed opens an aggregated watch of the state and hands what it sends to pass, until that returns false or the context
// ends.
func relayed(
	ctx context.Context, st state.CoreState, kind resource.Kind, opts []state.WatchKindOption, pass func(context.Context, []state.Event) bool,
) error {
	inner := make(chan []state.Event)
	if err := st.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case batch := <-inner:
				if !pass(ctx, batch) {
					return
				}
			}
		}
	}()

	return nil
}
