// Package qruntime owns the adapter of queue controllers: the queue of their items, the workers that take from it,
// the run hook and the shutdown hook.
//
// An [Adapter] has no goroutine at rest. Workers are started when items become ready, up to the controller's
// concurrency, and end when none is left; the run hook has a goroutine of its own for as long as it runs. One item is
// never in two workers at once. What happens after a pass follows from its [outcome] alone.
package qruntime

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reduced"
)

// Config is what an adapter is made of. All fields are needed.
type Config struct {
	Controller controller.QController
	// Settings is what the controller returned, read once.
	Settings controller.QSettings
	// Runtime is the controller's guarded view of the state.
	Runtime controller.QRuntime
	// Skipped tells whether an error asks for the item to be left alone until the next change.
	Skipped func(error) bool
	// Everything fills the queue with all primary inputs that are known. It is called when nobody can tell any more
	// which of them a mapped resource once concerned.
	Everything func()

	Clock   clockwork.Clock
	Backoff backoff.Policy
	Random  func() float64
	Metrics *metrics.Queue
	// Logger is the controller's, which names it in every line.
	Logger *zap.Logger
}

// job is what is to be done with the resource of an item.
type job uint8

const (
	reconcile job = iota
	mapInput
)

// item is what the queue holds one of at most.
type item struct {
	key reduced.Key
	job job
}

// Adapter runs one queue controller.
type Adapter struct {
	cfg       Config
	queue     *queue.Keyed[item, reduced.Metadata]
	primaries primaries
	hook      *hook
	recorder  adapter.Recorder

	// failing counts the items that have failed since they last succeeded.
	failing atomic.Int64

	ctx     context.Context // set by Start
	running sync.WaitGroup  // workers and the run hook

	// mu guards the pool: who works, and whether anybody may.
	mu      sync.Mutex
	open    bool
	workers map[*worker]struct{}
	limit   int
}

// New returns an adapter with an empty queue.
func New(cfg Config) *Adapter {
	a := &Adapter{
		cfg:       cfg,
		primaries: primariesOf(cfg.Settings.Inputs),
		workers:   map[*worker]struct{}{},
		limit:     int(cfg.Settings.Concurrency.ValueOr(1)),
	}

	a.hook = &hook{adapter: a, retry: adapter.NewRetry(cfg.Backoff, adapter.Healthy, cfg.Random)}
	a.queue = queue.NewKeyed[item](cfg.Clock, queue.KeyedConfig[reduced.Metadata]{Merge: reduced.Merge, Ready: a.hire})
	a.recorder.Enter(adapter.Registered, cfg.Clock.Now())

	return a
}

// Deliver puts a changed resource into the queue: to be reconciled, or to be mapped. It never blocks on the controller.
func (a *Adapter) Deliver(md *reduced.Metadata, kind controller.InputKind) {
	a.queue.Put(itemOf(md, kind), *md, queue.Live)
}

// DeliverAll is Deliver for each of the changes in turn, all by one kind of input. It does not keep the slice.
func (a *Adapter) DeliverAll(changes []reduced.Metadata, kind controller.InputKind) {
	items := make([]queue.Item[item, reduced.Metadata], len(changes))

	for i := range changes {
		items[i] = queue.Item[item, reduced.Metadata]{Key: itemOf(&changes[i], kind), Value: changes[i]}
	}

	a.queue.PutAll(items, queue.Live)
}

func itemOf(md *reduced.Metadata, kind controller.InputKind) item {
	it := item{key: md.Key()}

	if kind != controller.InputQPrimary {
		it.job = mapInput
	}

	return it
}

// Fill puts resources into the queue to be reconciled, behind live changes; failing ones keep their backoff.
func (a *Adapter) Fill(keys []reduced.Key) { a.putAll(keys, queue.Fill) }

// Trigger puts resources into the queue to be reconciled as if they had changed, all of them or, with an error that
// names the first that is not a primary input of the controller, none.
func (a *Adapter) Trigger(keys []reduced.Key) error {
	for _, key := range keys {
		if err := a.primaries.check(key); err != nil {
			return err
		}
	}

	a.putAll(keys, queue.Live)

	return nil
}

func (a *Adapter) putAll(keys []reduced.Key, lane queue.Lane) {
	items := make([]queue.Item[item, reduced.Metadata], len(keys))

	for i, key := range keys {
		items[i].Key.key = key
	}

	a.queue.PutAll(items, lane)
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

	if a.cfg.Settings.RunHook != nil {
		adapter.Loop(&a.running, a.hook.step, func() { a.hook.exited = adapter.ErrGoexit })
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

	if started && a.cfg.Settings.ShutdownHook != nil {
		a.shutdown()
	}

	a.recorder.Enter(adapter.Stopped, a.cfg.Clock.Now())
}

// shutdown calls the hook in a goroutine of its own, which survives that the hook ends it.
func (a *Adapter) shutdown() {
	var (
		hook   sync.WaitGroup
		called bool
		err    error
	)

	adapter.Loop(&hook, func() bool {
		if called {
			return false
		}

		called = true
		err = adapter.Contain(func() error {
			a.cfg.Settings.ShutdownHook()

			return nil
		})

		return false
	}, func() { err = adapter.ErrGoexit })

	hook.Wait()

	if err != nil {
		a.cfg.Metrics.Crashes.Inc()
		a.cfg.Logger.Error("shutdown hook failed", adapter.ErrorFields(err)...)
	}
}

// Status returns what the controller is doing.
func (a *Adapter) Status() adapter.Status {
	status := a.recorder.Status()
	stats := a.queue.Stats()

	status.Ready, status.Delayed, status.Processing = stats.Ready, stats.Delayed, stats.Processing
	status.OldestWait = stats.OldestWait
	status.Failing = int(a.failing.Load())

	a.mu.Lock()
	defer a.mu.Unlock()

	// Of passes that began at one moment the first by name is told, whichever worker comes first.
	for w := range a.workers {
		if p := w.current(); p.running && (status.BusySince.IsZero() ||
			cmp.Or(p.started.Compare(status.BusySince), cmp.Compare(p.item.String(), status.Doing)) < 0) {
			status.BusySince, status.Doing = p.started, p.item.String()
		}
	}

	return status
}

// String names the item for people.
func (it item) String() string {
	if it.job == mapInput {
		return "map " + it.key.String()
	}

	return "reconcile " + it.key.String()
}

// hook runs the controller's run hook, and runs it again when it fails.
type hook struct {
	adapter *Adapter
	retry   *adapter.Retry

	// The fields below belong to the hook's goroutine.
	started time.Time
	exited  error
}

// step is one call of the hook with what follows it; it tells whether there is to be another.
func (h *hook) step() bool {
	a := h.adapter
	err := h.exited
	h.exited = nil

	if err == nil {
		h.started = a.cfg.Clock.Now()
		err = adapter.Contain(func() error { return a.cfg.Settings.RunHook(a.ctx, a.cfg.Logger, a.cfg.Runtime) })
	}

	if a.ctx.Err() != nil {
		return false
	}

	now := a.cfg.Clock.Now()

	if err == nil {
		a.cfg.Logger.Debug("run hook finished")

		if a.failing.Load() == 0 {
			a.recorder.Recover()
		}

		return false
	}

	attempt, delay := h.retry.Failed(now.Sub(h.started))

	a.cfg.Metrics.Crashes.Inc()
	a.recorder.Fail(adapter.BackingOff, now, err, attempt, now.Add(delay))
	a.cfg.Logger.Error("run hook failed and will be run again", append(adapter.ErrorFields(err),
		zap.Int("attempt", attempt), zap.Duration("next_try_in", delay))...)

	if !adapter.Sleep(a.ctx, a.cfg.Clock, delay) {
		return false
	}

	a.recorder.Enter(adapter.Running, a.cfg.Clock.Now())

	return true
}

// primaries answers which resources the controller reconciles. It does not change.
type primaries struct {
	whole map[reduced.Kind]struct{}
	ids   map[reduced.Key]struct{}
}

func primariesOf(inputs []controller.Input) primaries {
	p := primaries{whole: map[reduced.Kind]struct{}{}, ids: map[reduced.Key]struct{}{}}

	for _, in := range inputs {
		if in.Kind != controller.InputQPrimary {
			continue
		}

		kind := reduced.Kind{Namespace: in.Namespace, Type: in.Type}

		if id, ok := in.ID.Get(); ok {
			p.ids[reduced.Key{Kind: kind, ID: id}] = struct{}{}
		} else {
			p.whole[kind] = struct{}{}
		}
	}

	return p
}

// check returns an error that names the resource if it is not a primary input.
func (p primaries) check(ptr reduced.Key) error {
	if _, ok := p.whole[ptr.Kind]; ok {
		return nil
	}

	if _, ok := p.ids[ptr]; ok {
		return nil
	}

	return &NotPrimaryError{Resource: ptr.Pointer()}
}

// NotPrimaryError says that a resource was to be reconciled that is not a primary input of the controller.
type NotPrimaryError struct{ Resource resource.Pointer }

// Error names the resource.
func (e *NotPrimaryError) Error() string {
	return reduced.KeyOf(e.Resource).String() + " is not a primary input of the controller: declare it as InputQPrimary or leave it out"
}
