package controllertest

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// relay stands between a watch of the state and whoever has opened it: it keeps what comes until the schedule lets it
// through, in portions, or breaks the watch.
type relay struct {
	door *door
	kind resource.Kind
	name string

	batches chan []state.Event
	singles chan state.Event
	send    func(context.Context, []state.Event) bool
	// single tells that events are passed on one by one. Then each is a portion: who gets two would see the second one some
	// time while it works on the first.
	single bool
	// live tells that what comes is new to whoever has opened the watch, and not the contents that it begins with.
	live bool
}

// Watch implements [state.CoreState].
func (d *door) Watch(ctx context.Context, ptr resource.Pointer, ch chan<- state.Event, opts ...state.WatchOption) error {
	return d.watch(ctx, ptr, short(ptr), sender(ch), func(ctx context.Context, r *relay) error {
		r.single = true

		return d.inner.Watch(ctx, ptr, r.singles, opts...)
	})
}

// WatchKind implements [state.CoreState].
func (d *door) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	return d.watchKind(ctx, kind, opts, sender(ch), func(ctx context.Context, r *relay, opts []state.WatchKindOption) error {
		r.single = true

		return d.inner.WatchKind(ctx, kind, r.singles, opts...)
	})
}

// WatchKindAggregated implements [state.CoreState].
func (d *door) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	return d.watchKind(ctx, kind, opts, func(ctx context.Context, events []state.Event) bool {
		select {
		case ch <- events:
			return true
		case <-ctx.Done():
			return false
		}
	}, func(ctx context.Context, r *relay, opts []state.WatchKindOption) error {
		return d.inner.WatchKindAggregated(ctx, kind, r.batches, opts...)
	})
}

func sender(ch chan<- state.Event) func(context.Context, []state.Event) bool {
	return func(ctx context.Context, events []state.Event) bool {
		for _, event := range events {
			select {
			case ch <- event:
			case <-ctx.Done():
				return false
			}
		}

		return true
	}
}

func (d *door) watchKind(
	ctx context.Context, kind resource.Kind, opts []state.WatchKindOption,
	send func(context.Context, []state.Event) bool, open func(context.Context, *relay, []state.WatchKindOption) error,
) error {
	var asked state.WatchKindOptions
	for _, opt := range opts {
		opt(&asked)
	}

	resumed := asked.StartFromBookmark != nil

	if resumed && d.life.world.overrun(kind) {
		return stale{injected("the history of " + shortType(kind.Type()) + " was overrun")}
	}

	return d.watch(ctx, kind, shortType(kind.Type()), send, func(ctx context.Context, r *relay) error {
		r.live = resumed && d.life.world.newest(kind, asked.StartFromBookmark)

		if !resumed {
			d.life.listed(kind)
		}

		if earlier := d.life.world.earlier(r); resumed && earlier != nil {
			opts = append(opts[:len(opts):len(opts)], state.WithKindStartFromBookmark(earlier))
			r.live = false
		}

		return open(ctx, r, opts)
	})
}

func (d *door) watch(
	ctx context.Context, kind resource.Kind, what string,
	send func(context.Context, []state.Event) bool, open func(context.Context, *relay) error,
) error {
	w := d.life.world

	w.saw(kind)

	if err := d.before(ctx, "watch "+what); err != nil {
		return err
	}

	by := actorOf(ctx).String()
	ctx, cancel := context.WithCancel(ctx)

	r := &relay{
		door: d, kind: kind, name: w.draws.nth("watch of " + what + " by " + by), send: send,
		batches: make(chan []state.Event), singles: make(chan state.Event),
	}

	if err := open(ctx, r); err != nil {
		cancel()
		w.trace.note(by, "%s can not be opened: %s", r.name, err)

		return err
	}

	d.life.relays.Go(func() {
		defer cancel()

		r.run(ctx)
	})

	return nil
}

// run passes on what comes until the watch breaks or its context ends.
func (r *relay) run(ctx context.Context) {
	var (
		sched   = r.door.life.world.sched
		pending []state.Event
		turn    *gate
		open    chan struct{}
	)

	for {
		if turn == nil && len(pending) > 0 {
			turn = &gate{class: delivering, name: r.name}
			sched.add(turn)
			open = turn.open
		}

		select {
		case <-ctx.Done():
			if turn != nil {
				sched.remove(turn)
			}

			return
		case batch := <-r.batches:
			pending = append(pending, batch...)
		case event := <-r.singles:
			pending = append(pending, event)
		case <-open:
			turn, open = nil, nil

			if pending = r.deliver(ctx, pending); pending == nil {
				return
			}
		}
	}
}

// deliver passes on a portion and returns the rest, or nil after the watch has broken.
func (r *relay) deliver(ctx context.Context, pending []state.Event) []state.Event {
	w := r.door.life.world
	site := w.draws.nth(portioning + r.name)

	if w.faulty() && !r.door.life.dead.Load() {
		overrun := w.draws.odds("overrun at "+site, w.faults.Overruns)

		if overrun || w.draws.odds("break at "+site, w.faults.Breaks) {
			w.trace.note(r.name, "it breaks")

			if overrun {
				w.setOverrun(r.kind)
			}

			r.send(ctx, []state.Event{{Type: state.Errored, Error: injected(r.name + " has broken")}})

			return nil
		}
	}

	if left := r.lose(site, pending); len(left) < len(pending) {
		return left
	}

	portion := 1
	if !r.single {
		portion = len(pending) - w.draws.pick(site, len(pending))
	}

	w.told(r, pending[:portion])

	if !r.send(ctx, pending[:portion:portion]) {
		return nil
	}

	return pending[portion:]
}

// lose leaves out the first change, if the schedule says so. Contents are never left out: who loads them anew has them all.
func (r *relay) lose(site string, pending []state.Event) []state.Event {
	w := r.door.life.world

	if r.single || !r.live || pending[0].Type > state.Destroyed || !w.faulty() || !w.draws.odds("loss at "+site, w.faults.Losses) {
		return pending
	}

	w.trace.note(r.name, "it leaves out %s", summary(pending[:1]))
	w.stirred()

	if pending[0].Type == state.Destroyed {
		w.forget(r.kind) // a watch that repeats does not bring it back, as if it had been told
	}

	return pending[1:]
}

// summary tells of events in a line.
func summary(events []state.Event) string {
	const most = 6

	var out strings.Builder

	for i, event := range events {
		if i == most {
			fmt.Fprintf(&out, ", and %d more", len(events)-most)

			break
		}

		if i > 0 {
			out.WriteString(", ")
		}

		switch {
		case event.Type == state.Bootstrapped:
			out.WriteString("the end of the contents")
		case event.Type == state.Noop:
			out.WriteString("nothing but a bookmark")
		case event.Resource != nil:
			fmt.Fprintf(&out, "%s %s v%s", event.Resource.Metadata().ID(), strings.ToLower(event.Type.String()), event.Resource.Metadata().Version())
		case event.Error != nil:
			out.WriteString(event.Error.Error())
		default:
			out.WriteString(strings.ToLower(event.Type.String()))
		}
	}

	return out.String()
}
