// Package qruntime owns the adapter of queue controllers: the queue of their items, the workers that take from it,
// the run hook and the shutdown hook.
//
// An [Adapter] has no goroutine at rest, and little memory. Workers are started when items become ready, up to the
// controller's concurrency, and end when none is left; the run hook has a goroutine of its own for as long as it runs. One
// item is never in two workers at once. What happens after a pass follows from its [outcome] alone.
package qruntime

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reduced"
)

// atOnce is how many items are put under one lock, so that workers need not wait for long.
const atOnce = 512

// Config is what an adapter is made of. All fields but Trace and Own are needed.
type Config struct {
	Controller controller.QController
	// Settings is what the controller returned, read once. The adapter does not keep it.
	Settings *controller.QSettings
	// Runtime is the controller's guarded view of the state.
	Runtime controller.QRuntime
	// Skipped tells whether an error asks for the item to be left alone until the next change.
	Skipped func(error) bool
	// Everything fills the queue with all primary inputs that are known. It is called when nobody can tell any more
	// which of them a mapped resource once concerned.
	Everything func()
	// Deadline is how long a pass may run; nil is as long as it takes.
	Deadline *adapter.Deadline
	// Trace is told what passes do, and why; nil is that nobody asks.
	Trace *cause.Tracer
	// Own tells which changes the controller has made itself, see [Adapter.Decided]. Nil is that nobody knows.
	Own *origin.Own

	// Crew runs the workers. The default is a closed crew.
	Crew    *adapter.Crew
	Clock   clockwork.Clock
	Backoff backoff.Policy
	Random  func() float64
	Metrics *metrics.Queue
	// Logger is the controller's, which names it in every line.
	Logger *zap.Logger
}

// Adapter runs one queue controller.
type Adapter struct {
	cfg      Config
	hooks    *hooks // nil where there is none
	queue    *queue.Keyed[item, because]
	inputs   inputs
	recorder adapter.Recorder

	// failing counts the items that have failed since they last succeeded.
	failing atomic.Int64
	// inHook is the call of a hook that runs, or nil.
	inHook atomic.Pointer[hooked]
	// damped are the items kept waiting; nil until there is one.
	damped atomic.Pointer[damped]

	// created is from when passes count the time.
	created time.Time
	ctx     context.Context // set by Start
	running sync.WaitGroup  // workers and the run hook

	pool
}

// New returns an adapter with an empty queue.
func New(cfg Config) *Adapter {
	a := &Adapter{cfg: cfg, inputs: inputsOf(cfg.Settings.Inputs), created: cfg.Clock.Now()}

	cfg.Trace.From(a.created)

	if cfg.Crew == nil {
		a.cfg.Crew = &adapter.Crew{}
	}

	a.limit = int32(min(cfg.Settings.Concurrency.ValueOr(1), math.MaxInt32))
	a.cfg.Settings = nil

	if run, shutdown := cfg.Settings.RunHook, cfg.Settings.ShutdownHook; run != nil || shutdown != nil {
		a.hooks = &hooks{run, shutdown}
	}

	a.queue = queue.NewKeyed(cfg.Clock, queue.KeyedConfig[item, because]{
		Hash: item.hash, Compare: item.compare, Merge: merge, Epoch: a.created, Ready: a.hire,
	})
	a.recorder.Enter(adapter.Registered, a.created)

	return a
}

// now is the time since the adapter was created, which is quicker to read than that of the day.
func (a *Adapter) now() time.Duration { return a.cfg.Clock.Since(a.created) }

func (a *Adapter) time(since time.Duration) time.Time { return a.created.Add(since) }

// Deliver puts changed resources into the queue, as a kind of input says: to be reconciled, or to be mapped. Those that the
// controller has changed itself come behind the others. It never blocks on the controller. A resource on whose kind the
// controller has no input is ignored. It does not keep the slice.
func (a *Adapter) Deliver(changes []reduced.Metadata, kind controller.InputKind) {
	if len(changes) == 1 { // which is the rule where little goes on
		var verdict [1]origin.Verdict

		a.cfg.Own.Judge(changes, kind, verdict[:])

		if verdict[0] != origin.Kept {
			a.deliver(&changes[0], kind, verdict[0] == origin.Itself)
		}

		return
	}

	for part := range slices.Chunk(changes, atOnce) {
		var room [atOnce]origin.Verdict

		verdicts := room[:len(part)]
		a.cfg.Own.Judge(part, kind, verdicts)

		a.deliverAll(part, kind, verdicts, origin.Others)
		a.deliverAll(part, kind, verdicts, origin.Itself)
	}
}

// Decided delivers a change that was held until it was known whether the controller has made it itself.
func (a *Adapter) Decided(change reduced.Metadata, kind controller.InputKind, own bool) {
	a.deliver(&change, kind, own)
}

// Loaded says that all contents of a kind were loaded: what the controller has written before may be among them, and never come
// as a change.
func (a *Adapter) Loaded(kind reduced.Kind) { a.cfg.Own.Loaded(kind) }

// LetGo delivers what was held already when it was called last, see [origin.Own.LetGo].
func (a *Adapter) LetGo() { a.cfg.Own.LetGo() }

// deliverAll delivers the changes of which the verdict is the one given, under one lock.
func (a *Adapter) deliverAll(changes []reduced.Metadata, kind controller.InputKind, verdicts []origin.Verdict, which origin.Verdict) {
	first := slices.Index(verdicts, which)

	switch {
	case first < 0:
		return
	case !slices.Contains(verdicts[first+1:], which):
		a.deliver(&changes[first], kind, which == origin.Itself)

		return
	}

	a.queue.PutAll(func(yield func(item, because) bool) {
		for i := range changes {
			if verdicts[i] != which {
				continue
			}

			if number, ok := a.inputs.find(changes[i].Key().Kind); ok && !yield(delivered(&changes[i], number, kind, which == origin.Itself)) {
				return
			}
		}
	}, laneOf(which == origin.Itself))
}

func (a *Adapter) deliver(md *reduced.Metadata, kind controller.InputKind, own bool) {
	if number, ok := a.inputs.find(md.Key().Kind); ok {
		it, reason := delivered(md, number, kind, own)
		a.queue.Put(it, reason, laneOf(own))
	}
}

// laneOf returns the lane for what the controller has changed itself, or for what somebody else has.
func laneOf(own bool) queue.Lane {
	if own {
		return queue.Own
	}

	return queue.Live
}

// delivered returns what is to be put for a change. What it is about is needed only for a mapping.
func delivered(md *reduced.Metadata, number int, kind controller.InputKind, own bool) (item, because) {
	it := item{id: md.ID(), kind: uint32(number)}

	if kind == controller.InputQPrimary {
		return it, changedTo(md, own)
	}

	it.job = mapInput

	facts := md.Facts
	if own {
		facts = facts.AsOwn()
	}

	return it, because{more: &more{facts: facts}}
}

// Fill puts resources of a kind into the queue to be reconciled, behind live changes; failing ones keep their backoff. It is
// quickest for ids in order. Resources that are not primary inputs are ignored. It does not keep the slice.
func (a *Adapter) Fill(kind reduced.Kind, ids []resource.ID) {
	number, ok := a.inputs.find(kind)
	if !ok {
		return
	}

	for part := range slices.Chunk(ids, atOnce) {
		items := make([]item, 0, len(part))

		for _, id := range part {
			if a.inputs[number].primary(id) {
				items = append(items, item{id: id, kind: uint32(number)})
			}
		}

		a.queue.PutSorted(items)
	}
}

// Trigger puts resources into the queue to be reconciled as if they had changed, all of them or, with an error that
// names the first that is not a primary input of the controller, none.
func (a *Adapter) Trigger(keys []reduced.Key) error {
	items := make([]item, len(keys))

	for i, key := range keys {
		it, err := a.inputs.primary(key)
		if err != nil {
			return err
		}

		items[i] = it
	}

	a.queue.PutAll(toReconcile(items, because{why: whyOf(cause.Triggered, false)}), queue.Live)

	return nil
}

// toReconcile yields the items in the form in which they are put, all for the same reason.
func toReconcile(items []item, reason because) iter.Seq2[item, because] {
	return func(yield func(item, because) bool) {
		for _, it := range items {
			if !yield(it, reason) {
				return
			}
		}
	}
}

// Len returns the number of items that are ready or wait for a later time.
func (a *Adapter) Len() int {
	stats := a.queue.Stats()

	return stats.Ready + stats.Delayed
}

// Start lets workers take from the queue, and starts the run hook, until the context ends. It is called once.
func (a *Adapter) Start(ctx context.Context) {
	a.recorder.Enter(adapter.Running, a.cfg.Clock.Now())

	a.mu.Lock()
	a.ctx = ctx
	a.open = true
	a.mu.Unlock()

	if a.hooks != nil && a.hooks.run != nil {
		a.runHook()
	}

	a.hire()
}

// Wait drops the backlog, waits for the workers and the run hook to end, and then calls the shutdown hook. It is called
// once, after the end of the context that was passed to Start, or instead of it.
func (a *Adapter) Wait() {
	a.mu.Lock()
	started := a.open
	a.open = false
	a.mu.Unlock()

	a.queue.Stop()
	a.running.Wait()

	if started && a.hooks != nil && a.hooks.shutdown != nil {
		a.shutdown()
	}

	a.recorder.Enter(adapter.Stopped, a.cfg.Clock.Now())
}
