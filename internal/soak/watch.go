package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

var (
	errRefused = errors.New("too many watches")
	errBroken  = errors.New("connection reset")
)

// forgottenError is what a state says that does not know a bookmark any more.
type forgottenError struct{}

func (forgottenError) Error() string              { return "bookmark is too old" }
func (forgottenError) InvalidWatchBookmarkError() {}

// WatchKind implements [state.CoreState].
func (s *faulty) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	return relay(ctx, s, ch, opts, func(ctx context.Context, inner chan<- state.Event) error {
		return s.CoreState.WatchKind(ctx, kind, inner, opts...)
	}, func(event state.Event) []state.Event { return []state.Event{event} }, state.Event{Type: state.Errored, Error: errBroken})
}

// WatchKindAggregated implements [state.CoreState].
func (s *faulty) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	return relay(ctx, s, ch, opts, func(ctx context.Context, inner chan<- []state.Event) error {
		return s.CoreState.WatchKindAggregated(ctx, kind, inner, opts...)
	}, func(batch []state.Event) []state.Event { return batch }, []state.Event{{Type: state.Errored, Error: errBroken}})
}

// refuses returns why a watch is not to be opened, or nil.
func (s *faulty) refuses(opts []state.WatchKindOption) error {
	var options state.WatchKindOptions

	for _, opt := range opts {
		opt(&options)
	}

	switch {
	case s.faults.strikes(refused):
		return errRefused
	case options.StartFromBookmark != nil && s.faults.strikes(forgotten):
		return forgottenError{}
	default:
		return nil
	}
}

// relay opens a watch and passes on what it sends, until the context ends or the watch is to break.
func relay[E any](
	ctx context.Context, s *faulty, ch chan<- E, opts []state.WatchKindOption,
	open func(context.Context, chan<- E) error, events func(E) []state.Event, failure E,
) error {
	if err := s.refuses(opts); err != nil {
		return err
	}

	ctx, end := context.WithCancel(ctx)
	inner := make(chan E)

	if err := open(ctx, inner); err != nil {
		end()

		return err
	}

	s.relays.Go(func() {
		defer end()

		turn := time.NewTimer(s.faults.upTo(longestTurn))
		defer turn.Stop()

		for {
			var sent E

			select {
			case <-ctx.Done():
				return
			case <-turn.C:
				if s.faults.strikes(broken) {
					pass(ctx, ch, failure)

					return
				}

				if s.faults.strikes(stalled) {
					wait(ctx, s.faults.upTo(longestStall))
				}

				turn.Reset(s.faults.upTo(longestTurn))

				continue
			case sent = <-inner:
			}

			batch := events(sent)
			if slices.ContainsFunc(batch, func(event state.Event) bool { return event.Type == state.Errored }) {
				s.faults.happened(overrun)
			}

			if !s.loses(batch) && !pass(ctx, ch, sent) {
				return
			}
		}
	})

	return nil
}

// pass passes an event on; it tells whether the context has not ended.
func pass[E any](ctx context.Context, ch chan<- E, sent E) bool {
	select {
	case <-ctx.Done():
		return false
	case ch <- sent:
		return true
	}
}

// loses tells whether events are lost. First contents never are.
func (s *faulty) loses(events []state.Event) bool {
	if s.lose == 0 || len(events) == 0 {
		return false
	}

	switch events[len(events)-1].Type {
	case state.Created, state.Updated, state.Destroyed:
		return s.faults.draw(s.lose)
	default:
		return false
	}
}
