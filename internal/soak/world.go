package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"golang.org/x/sync/errgroup"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// history is how many events the state keeps of each kind. A watch that falls further behind is overrun, and a bookmark
// that is older is refused.
const history = 64

// world is all groups and the engine that runs their controllers.
type world struct {
	settings *settings
	engine   *runtime.Runtime
	groups   []*group
	writers  []*writer
	counts   *ledger
}

// newWorld returns a world in which nothing runs yet.
func newWorld(s *settings) (*world, error) {
	w := &world{settings: s, counts: &ledger{}}
	build := inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(history), inmem.WithHistoryInitialCapacity(history), inmem.WithHistoryGap(3))
	byName := map[resource.Namespace]*group{}

	var opts []options.Option

	for number := range s.groups() {
		g := newGroup(number, s, w.counts, build(""))
		byName[g.String()] = g
		w.groups = append(w.groups, g)
		opts = append(opts, g.cached()...)
	}

	all := namespaced.NewState(func(ns resource.Namespace) state.CoreState { return byName[ns].faulty })

	var err error

	// Retries come soon, so that there are many of them, and outputs follow soon once nothing fails any more.
	w.engine, err = runtime.New(state.WrapCore(all), nil, runtime.Config{
		Options: opts,
		Seed:    s.seed,
		Backoff: backoff.Policy{Base: 100 * time.Millisecond, Factor: 2, Max: 5 * time.Second, Jitter: 0.5},
		Grace:   s.patience,
	})
	if err != nil {
		return nil, err
	}

	for _, g := range w.groups {
		w.writers = append(w.writers, &writer{
			group: g, engine: w.engine, patience: s.patience,
			every: time.Duration(float64(time.Second) * float64(s.groups()) / s.rate),
			dice:  rand.New(rand.NewPCG(s.seed, uint64(2*g.number+1))),
		})

		for role := range roles {
			if err := g.register(w.engine, role); err != nil {
				return nil, err
			}
		}
	}

	return w, nil
}

// run runs the world for as long as the settings say, and writes the table. It returns an error that tells of an update
// that was lost, of growth, or of an end before its time.
func (w *world) run(ctx context.Context, out io.Writer) error {
	for _, writer := range w.writers {
		if err := writer.fill(ctx); err != nil {
			return err
		}
	}

	ctx, end := context.WithCancel(ctx)
	defer end()

	work, ctx := errgroup.WithContext(ctx)

	work.Go(func() error {
		if err := w.engine.Run(ctx); err != nil || ctx.Err() != nil {
			return err
		}

		return errors.New("the engine has ended by itself")
	})

	for _, writer := range w.writers {
		writer.group.faults.set(true)
		work.Go(func() error { return writer.run(ctx) })
	}

	err := w.conduct(ctx, out)

	end()

	if failed := work.Wait(); failed != nil {
		err = failed
	}

	for _, g := range w.groups {
		g.faulty.relays.Wait()
	}

	return err
}

// conduct checks one group after another, measures now and then, and judges in the end.
func (w *world) conduct(ctx context.Context, out io.Writer) error {
	began := time.Now()
	every := min(time.Minute, w.settings.length/10)
	report := newReport(w, out)

	for due, turn := every, 0; ; turn++ {
		passed := time.Since(began)

		if passed < due {
			if err := w.check(ctx, w.groups[turn%len(w.groups)]); err != nil {
				return report.end(err)
			}

			continue
		}

		s, err := w.atRest(ctx)
		if err != nil {
			return report.end(err)
		}

		s.time = passed
		report.line(s)

		if passed >= w.settings.length {
			return report.judge()
		}

		due = min(due+every, w.settings.length)
	}
}
