package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// trial is one round of one contender. A workload sets it up, calls measure once, and leaves the rest to it.
type trial struct {
	// ctx ends with the first failure.
	ctx  context.Context
	fail context.CancelCauseFunc

	// contender is who runs, size for how many.
	contender string
	size      int
	// profiles is a path without extension, or empty.
	profiles string

	figures figures
	rigs    []*rig
	// rested is for how long nothing has gone on, because that was waited for.
	rested time.Duration
}

// failure is what a workload panics with when it can not go on.
type failure struct{ err error }

// perform runs one round. The second result ends what was started; a process that ends anyway need not call it.
func perform(ctx context.Context, w *workload, contender string, size int, profiles string) (f figures, tidy func(), err error) {
	t := &trial{contender: contender, size: size, profiles: profiles}
	t.ctx, t.fail = context.WithCancelCause(ctx)

	tidy = func() {
		t.fail(context.Canceled)

		for _, r := range t.rigs {
			r.end()
		}
	}

	defer func() {
		switch failed := recover().(type) {
		case nil:
		case failure:
			err = failed.err
		default:
			panic(failed)
		}
	}()

	run := w.run
	if contender == floorName {
		run = w.floor
	}

	run(t)

	if t.figures.Ops == 0 {
		return f, tidy, fmt.Errorf("workload %s measures nothing", w.name)
	}

	t.figures.PeakRSS = peakRSS()

	return t.figures, tidy, nil
}

// check ends the round when something failed.
func (t *trial) check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// wait waits for a channel to be closed or to have something.
func (t *trial) wait(done <-chan struct{}) { receive(t, done) }

// receive waits for a value, unless the round fails before.
func receive[T any](t *trial, from <-chan T) T {
	select {
	case value := <-from:
		return value
	case <-t.ctx.Done():
		panic(failure{context.Cause(t.ctx)})
	}
}

// measure runs the part that counts, which does so many operations.
func (t *trial) measure(ops int, part func()) {
	runtime.GC()

	stop := t.profile()
	peak := watchHeap()
	t.rested = 0

	before, err := read()
	t.check(err)

	part()

	after, err := read()
	t.check(err)

	t.figures.PeakHeap = peak()
	stop()

	t.figures.Ops = ops
	t.figures.since(before, after)
	t.figures.Seconds -= t.rested.Seconds()
}

// profile starts a profile of the processor if one is wanted. The returned function ends it and writes that of the heap.
func (t *trial) profile() func() {
	if t.profiles == "" {
		return func() {}
	}

	cpu, err := os.Create(t.profiles + ".cpu.pprof")
	t.check(err)
	t.check(pprof.StartCPUProfile(cpu))

	return func() {
		pprof.StopCPUProfile()

		heap, err := os.Create(t.profiles + ".heap.pprof")
		t.check(err)
		t.check(pprof.Lookup("allocs").WriteTo(heap, 0))
		t.check(errors.Join(cpu.Close(), heap.Close()))
	}
}

// compare sets what engines are compared by.
func (t *trial) compare(value float64) { t.figures.Value = value }

// note tells something beside.
func (t *trial) note(name string, value float64) {
	if t.figures.Extra == nil {
		t.figures.Extra = map[string]float64{}
	}

	t.figures.Extra[name] = value
}

// latencies notes quantiles, and compares by the one that is asked for.
func (t *trial) latencies(samples []time.Duration, quantile float64) {
	slices.Sort(samples)

	at := func(q float64) float64 { return samples[int(q*float64(len(samples)-1))].Seconds() }

	t.note("p50", at(0.5))
	t.note("p99", at(0.99))
	t.note("samples", float64(len(samples)))
	t.compare(at(quantile))
}

// rig is a state with an engine over it.
type rig struct {
	engine

	t     *trial
	state state.State
	stop  context.CancelFunc
	ended chan struct{}
	// beforeEnd, if there is one, lets go what would hold up the end.
	beforeEnd func()
}

// rig builds a state for so many kinds and the contender's engine over it.
func (t *trial) rig(kinds int, opts ...options.Option) *rig {
	r := &rig{t: t, state: newState(kinds)}

	e, err := build(t.contender, r.state, opts...)
	t.check(err)

	r.engine = e
	t.rigs = append(t.rigs, r)

	return r
}

// start runs the engine.
func (r *rig) start() {
	ctx, stop := context.WithCancel(r.t.ctx)
	r.stop, r.ended = stop, make(chan struct{})

	go func() {
		defer close(r.ended)

		if err := r.Run(ctx); err != nil && ctx.Err() == nil {
			r.t.fail(fmt.Errorf("the engine ended: %w", err))
		}
	}()
}

// end ends the engine and waits for it.
func (r *rig) end() {
	if r.beforeEnd != nil {
		r.beforeEnd()
	}

	if r.stop != nil {
		r.stop()
		<-r.ended
	}
}

// classic registers a classic controller.
func (r *rig) classic(c *classic) { r.t.check(r.RegisterController(c)) }

// queued registers a queue controller.
func (r *rig) queued(q *queued) { r.t.check(r.RegisterQController(q)) }

// borrow registers a classic controller and returns, after the engine was started, what the controller was handed.
func (r *rig) borrow(inputs ...controller.Input) func() controller.Runtime {
	lent := make(chan controller.Runtime)

	r.classic(&classic{name: "reader", inputs: inputs, run: lend(lent)})

	return func() controller.Runtime { return receive(r.t, lent) }
}

// create creates resources in the state.
func (r *rig) create(items ...*item) { create(r.t, r.state, items...) }

func create(t *trial, st state.CoreState, items ...*item) {
	for _, res := range items {
		t.check(st.Create(t.ctx, res))
	}
}

// follow hands each event of a kind to a function, from a goroutine that ends with the round. It is what the floor of
// most workloads consists of: the state's own watch, and nothing behind it.
func (t *trial) follow(st state.CoreState, typ resource.Type, contents bool, take func(state.Event)) {
	events := make(chan []state.Event)
	t.check(st.WatchKindAggregated(t.ctx, kind(typ), events, state.WithBootstrapContents(contents)))

	go func() {
		for {
			select {
			case batch := <-events:
				for _, event := range batch {
					if event.Error != nil {
						t.fail(event.Error)
					}

					take(event)
				}
			case <-t.ctx.Done():
				return
			}
		}
	}()
}
