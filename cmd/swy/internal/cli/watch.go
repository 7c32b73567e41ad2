package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
)

// again is how long to wait before a watch that has broken is opened again.
var again = backoff.Policy{Base: 200 * time.Millisecond, Factor: 2, Max: 5 * time.Second, Jitter: 0.2}

// following is a watch that goes on when the other side has gone, and come back.
type following struct {
	*getting

	out *printer
	// known is what was shown last of each resource, by id. It is nil until there was anything to show.
	known map[resource.ID]shown
}

// shown is a resource as it was shown, and a digest of all of it but its times.
type shown struct {
	resource resource.Resource
	digest   [sha256.Size]byte
}

// follow shows resources, and what happens to them, until the context ends.
func (g *getting) follow(ctx context.Context, st state.CoreState, out *printer) error {
	f := &following{getting: g, out: out}

	for attempt := 1; ; attempt++ {
		err := f.watchOnce(ctx, st, &attempt)

		var lost *unreachableError

		switch {
		case ctx.Err() != nil:
			return nil
		case f.known == nil || !errors.As(err, &lost):
			return err
		}

		delay := again.Delay(attempt, rand.Float64)
		f.say("the connection is lost, trying again in %s: %s", delay.Round(time.Millisecond), err)

		if !backoff.Sleep(ctx, clockwork.NewRealClock(), delay) {
			return nil
		}
	}
}

// watchOnce watches until something breaks.
func (f *following) watchOnce(ctx context.Context, st state.CoreState, attempt *int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	opts := []state.WatchKindOption{
		state.WithBootstrapContents(true), state.WithWatchKindUnmarshalOptions(state.WithSkipProtobufUnmarshal()),
	}

	if f.id != nil {
		opts = append(opts, state.WatchWithIDQuery(resource.IDRegexpMatch(exactly(*f.id))))
	}

	for _, query := range f.queries {
		opts = append(opts, state.WatchWithLabelQuery(resource.RawLabelQuery(query)))
	}

	events := make(chan state.Event)

	if err := st.WatchKind(ctx, pointer(f.kind, ""), events, opts...); err != nil {
		return f.stateError(ctx, err)
	}

	listed := map[resource.ID]shown{}
	complete := false

	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			switch {
			case event.Type == state.Errored:
				return f.broken(ctx, event.Error)
			case event.Type == state.Bootstrapped:
				if *attempt > 1 || f.known != nil {
					f.say("connected again")
				}

				complete, *attempt = true, 0

				if err := f.list(listed); err != nil {
					return err
				}
			case event.Type == state.Noop:
			case !complete:
				listed[event.Resource.Metadata().ID()] = shownOf(event.Resource)
			default:
				if err := f.event(event); err != nil {
					return err
				}
			}
		}
	}
}

// broken is a watch that has begun and has ended: whatever the reason, the next one begins anew.
func (f *following) broken(ctx context.Context, err error) error {
	err = f.stateError(ctx, err)

	if refused := (*refusedError)(nil); errors.As(err, &refused) {
		return &unreachableError{what: refused.what, do: refused.do}
	}

	return err
}

// list shows what is different from what was shown, as of when everything is known again.
func (f *following) list(listed map[resource.ID]shown) error {
	var (
		happening []happened
		first     = f.known == nil
	)

	for id, now := range listed {
		before, ok := f.known[id]

		switch {
		case first:
			happening = append(happening, happened{"exists", now.resource})
		case !ok:
			happening = append(happening, happened{"created", now.resource})
		case before.digest != now.digest:
			happening = append(happening, happened{"updated", now.resource})
		}
	}

	for id, before := range f.known {
		if _, ok := listed[id]; !ok {
			happening = append(happening, happened{"destroyed", before.resource})
		}
	}

	slices.SortFunc(happening, func(a, b happened) int {
		return cmp.Compare(a.resource.Metadata().ID(), b.resource.Metadata().ID())
	})

	f.known = listed

	return f.out.printAll(happening)
}

func (f *following) event(event state.Event) error {
	id := event.Resource.Metadata().ID()

	switch event.Type {
	case state.Destroyed:
		delete(f.known, id)

		return f.out.print("destroyed", event.Resource)
	case state.Created, state.Updated:
		f.known[id] = shownOf(event.Resource)

		if event.Type == state.Created {
			return f.out.print("created", event.Resource)
		}

		return f.out.print("updated", event.Resource)
	default:
		return nil
	}
}

// shownOf makes the digest. Times are left out: they are new after a restart of a state in memory, and nothing else may be.
func shownOf(r resource.Resource) shown {
	timeless := r.DeepCopy()
	timeless.Metadata().SetCreated(time.Time{})
	timeless.Metadata().SetUpdated(time.Time{})

	text, err := show.YAML(timeless, "", "")
	if err != nil {
		text = []byte(r.Metadata().String()) // it is told of when it is shown
	}

	return shown{r, sha256.Sum256(text)}
}
