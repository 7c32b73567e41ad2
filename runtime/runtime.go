package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

var _ controller.Engine = (*Runtime)(nil)

// stragglerWarning is how long after the end of its context Run names, for the first time, the controllers that still
// run.
const stragglerWarning = 5 * time.Second

// Runtime is the engine. Build one with [New] or [NewRuntime], register controllers, and call [Runtime.Run] once. All
// methods are safe for concurrent use.
type Runtime struct {
	cfg     Config
	opts    options.Options
	state   state.State
	logger  *zap.Logger
	cache   *cache.Cache
	metrics *metrics.Engine
	db      *dependency.Database[*entry]
	intake  *intake
	watches *watches
	rivals  *rivalry.Finder // nil where nobody is looked for

	departed departed

	exceeded       *metrics.Counter // passes over their deadline
	foundRivalries *metrics.Counter

	// guards and classics are what all controllers have in common.
	guards   *stateadapter.Shared
	classics *rruntime.Shared
	crew     adapter.Crew

	stuck atomic.Int64 // how many controllers were at the watchdog's last look

	// mu guards the fields below: a controller is started, and the run ended, under it, so that nothing is started
	// that the end does not wait for.
	mu      sync.Mutex
	phase   phase
	ctx     context.Context // of the run
	end     context.CancelFunc
	failure *watchError // that ended the run, or nil
	// admitted is how many controllers have had their first wakeup counted before the run.
	admitted int
	ending   sync.WaitGroup // unregistrations under way
}

type phase int

const (
	created phase = iota
	running
	stopped
)

// NewRuntime builds an engine over a state, with the contract's options. It is [New] under the signature of the engine
// that ships with the contract. A nil logger is a silent one.
func NewRuntime(st state.State, logger *zap.Logger, opts ...options.Option) (*Runtime, error) {
	return New(st, logger, Config{Options: opts})
}

// New builds an engine over a state. A nil logger is a silent one. It returns a [ConfigError] for a config that can
// not be honoured. Nothing runs before [Runtime.Run].
func New(st state.State, logger *zap.Logger, cfg Config) (*Runtime, error) {
	cfg, opts, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}

	if st == nil {
		return nil, &ConfigError{Field: "state", Problem: "is nil"}
	}

	if logger == nil {
		logger = zap.NewNop()
	}

	kinds := make([]reduced.Kind, len(opts.CachedResources))
	for i, cached := range opts.CachedResources {
		kinds[i] = reduced.Kind{Namespace: cached.Namespace, Type: cached.Type}
	}

	r := &Runtime{
		cfg:     cfg,
		opts:    opts,
		state:   st,
		logger:  logger,
		cache:   cache.New(cache.Config{Kinds: kinds, Detect: cfg.OnMutation}),
		metrics: metrics.NewEngine(opts.MetricsEnabled),
		db:      dependency.NewDatabase[*entry](),
	}

	r.exceeded = r.metrics.Count("passes_over_deadline")
	r.foundRivalries = r.metrics.Count("rivalries")
	epoch := cfg.Clock.Now()
	r.intake = newIntake(r.db, func() time.Duration { return cfg.Clock.Since(epoch) })

	if !cfg.NoDamping {
		r.rivals = rivalry.NewFinder(rivalry.Config{Clock: cfg.Clock, Epoch: cfg.Clock.Now(), Wake: r.intake.divide, Found: r.found})
	}

	if cfg.Passes > 0 {
		r.intake.explain()
	}

	r.intake.divider.init(r.db, r.rivals, cfg.Passes > 0)

	r.guards = &stateadapter.Shared{
		State: st, Cache: r.cache, Clock: cfg.Clock, Barrier: r.Barrier, WarnOnUncachedReads: opts.WarnOnUncachedReads,
	}
	r.classics = &rruntime.Shared{
		Clock: cfg.Clock, Epoch: epoch, Backoff: cfg.Backoff, Seed: cfg.Seed, Finished: r.metrics.Finished(),
	}

	r.watches = &watches{
		cfg: cfg, state: st, cache: r.cache, intake: r.intake, logger: logger,
		needs: r.db.Needs, fail: r.watchFailed, first: r.first, fill: r.fillAll, loaded: r.loaded, missed: r.missed, relisted: r.relisted,
		failures: r.metrics.Count("watch_failures"), relists: r.metrics.Count("watch_relists"), audits: r.metrics.Count("watch_audits"),
		missedChanges: r.metrics.Count("watch_missed"),
	}

	return r, nil
}

// CachedState returns the state with reads of cached kinds answered from memory while the engine runs; before and after,
// and for all other calls, it is the state itself. What it shows may be older than what was written a moment ago; the
// state that is returned is a stateadapter.Barrierer, too.
func (r *Runtime) CachedState() state.CoreState { return r.cache.State(r.state, r.Barrier) }

// GetDependencyGraph exports what controllers have declared, in a stable order. The error is always nil; it is there for
// the signature of the engine that ships with the contract.
func (r *Runtime) GetDependencyGraph() (*controller.DependencyGraph, error) { return r.db.Graph(), nil }

// GraphRevision is a number that is another one after each change of what controllers have declared: the key under which to keep what
// was made of the graph. Ask for it first, and for the graph afterwards; then what is kept is never older than its key.
func (r *Runtime) GraphRevision() uint64 { return r.db.Revision() }

// Run runs the controllers until the context ends, and returns nil when all its goroutines have ended. A runtime runs
// once; only a Run that failed before it started a controller, under the policy [EndRun], may be called again.
//
// It returns [ErrRunning] or [ErrStopped] when called at the wrong time, the failure of a watch under [EndRun], and a
// [StragglersError] when the grace of the config has run out.
func (r *Runtime) Run(ctx context.Context) error {
	ctx, end := context.WithCancel(ctx)
	defer end()

	registered, err := r.begin(ctx, end)
	if err != nil {
		return err
	}

	r.count(registered)

	var own sync.WaitGroup

	own.Go(func() { r.intake.run(ctx, r.cfg.Clock, r.over) })
	own.Go(func() { (&watchdog{runtime: r, count: &r.stuck}).run(ctx) })

	if r.openWatches(ctx, registered) {
		r.startAll(ctx, registered)
		<-ctx.Done()
	}

	end()

	entries, failure, again := r.stop()

	r.stopCaches(false)
	err = r.await(entries, &own)
	r.stopCaches(true)
	r.rivals.Close()
	r.metrics.Close()
	r.crew.Close()

	if failure == nil {
		return err
	}

	if again && err == nil {
		r.mu.Lock()
		r.phase = created
		r.mu.Unlock()
	}

	return errors.Join(failure, err)
}

// stopCaches ends the caches: those that nobody will fill any more while controllers are waited for, which may be
// waiting for their contents, and all of them afterwards.
func (r *Runtime) stopCaches(filled bool) {
	for _, kind := range r.cache.Kinds() {
		if c := r.cache.Collection(kind); filled || !c.Synced() {
			c.Stop()
		}
	}
}

// begin makes the runtime a running one, and returns the controllers that Run is to start, in order of registration. One
// that is being registered is not among them: its registration knows that the runtime runs, and starts it.
func (r *Runtime) begin(ctx context.Context, end context.CancelFunc) (registered []*entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	switch r.phase {
	case running:
		return nil, ErrRunning
	case stopped:
		return nil, ErrStopped
	}

	r.phase, r.ctx, r.end, r.failure = running, ctx, end, nil
	r.rivals.Open()
	r.metrics.Open()
	r.crew.Open()
	r.metrics.Gauge("pending_changes", r.intake.len)
	r.metrics.Gauge("watches", func() int { return len(r.watches.all()) })
	r.metrics.Gauge("stuck_controllers", func() int { return int(r.stuck.Load()) })
	r.metrics.Gauge("paused_controllers", r.countPaused)
	r.metrics.Gauge("rewritten_resources", r.rivals.Len)

	for _, kind := range r.cache.Kinds() {
		c := r.cache.Collection(kind)
		c.Start()
		r.metrics.CachedResources(kind.Type, c.Len)
	}

	for _, node := range r.db.Nodes() {
		if e := node.Target(); e.entered {
			registered = append(registered, e)
		}
	}

	for _, e := range byName(registered, func(e *entry) bool { return e.queue != nil }) {
		e.showQueue(r.metrics)
	}

	r.watches.start(ctx)

	return registered, nil
}

// openWatches opens a watch for every kind that is declared or cached. Under [EndRun] it waits for them, and tells whether
// none has failed, which ends the run.
func (r *Runtime) openWatches(ctx context.Context, registered []*entry) bool {
	kinds := append([]reduced.Kind(nil), r.cache.Kinds()...)

	for _, e := range registered {
		kinds = append(kinds, e.node.Kinds()...)
	}

	r.watches.adjust(kinds)

	return r.cfg.OnWatchFailure != EndRun || r.watches.attempted(ctx, kinds) == nil
}

// startAll starts the registered controllers in order. One whose watches have not been attempted yet
// is waited for only by itself.
func (r *Runtime) startAll(ctx context.Context, registered []*entry) {
	patience := r.cfg.Clock.NewTimer(time.Second)
	defer patience.Stop()

	waited, cancel := context.WithCancel(ctx)
	defer cancel()

	for _, e := range registered {
		kinds := e.node.Kinds()

		for _, kind := range kinds {
			w := r.watches.get(kind)
			if w == nil {
				continue
			}

			select {
			case <-w.opened:
			case <-patience.Chan():
				cancel()
			case <-waited.Done():
			}
		}

		if r.watches.ready(kinds) {
			r.start(e)

			continue
		}

		r.watches.running.Go(func() {
			if r.watches.attempted(ctx, kinds); ctx.Err() == nil {
				r.start(e)
			}
		})
	}
}

// watchFailed ends the run with the failure of a watch, unless it has ended before.
func (r *Runtime) watchFailed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.ctx.Err() == nil {
		r.failure = &watchError{err}
		r.end()
	}
}

// watchError is the failure of a watch that has ended a run.
type watchError struct{ err error }

func (e *watchError) Error() string { return "controller runtime watch error: " + e.err.Error() }
func (e *watchError) Unwrap() error { return e.err }

// stop has no controller started any more, and returns all of them to be waited for, and the failure that ended the run.
// A run that has failed before it started any controller leaves them as they are, and may begin again when it has ended.
func (r *Runtime) stop() (entries []*entry, failure *watchError, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.phase = stopped

	for _, node := range r.db.Nodes() {
		entries = append(entries, node.Target())
	}

	if r.failure != nil && !slices.ContainsFunc(entries, func(e *entry) bool { return e.started }) {
		return nil, r.failure, true
	}

	for _, e := range entries {
		e.stop()
	}

	return entries, r.failure, false
}

// await waits for controllers, watches and the goroutines of the run's own to end, names those that take long, and gives up
// after the grace, if there is one.
func (r *Runtime) await(entries []*entry, own *sync.WaitGroup) error {
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		for _, e := range entries {
			<-e.done
		}

		r.ending.Wait()
		r.watches.wait()
		own.Wait()
	}()

	warning := r.cfg.Clock.NewTimer(stragglerWarning)
	defer warning.Stop()

	var grace <-chan time.Time

	if r.cfg.Grace > 0 {
		timer := r.cfg.Clock.NewTimer(r.cfg.Grace)
		defer timer.Stop()

		grace = timer.Chan()
	}

	for waited := stragglerWarning; ; waited *= 2 {
		select {
		case <-ended:
			return nil
		case <-warning.Chan():
			r.warnOfStragglers(entries, waited)
			warning.Reset(waited)
		case <-grace:
			stragglers := r.stragglers(entries)
			r.warnOfStragglers(entries, r.cfg.Grace)

			return &StragglersError{
				Grace: r.cfg.Grace, Controllers: namesOf(stragglers), Stragglers: stragglers, Watches: r.watches.stillAlive(),
			}
		}
	}
}

// first gives queue controllers what the first contents of a kind have shown, of which they take what is theirs.
func (r *Runtime) first(kind reduced.Kind, ids []resource.ID) {
	for _, e := range r.db.Primaries(kind) {
		e.queue.Fill(kind, ids)
	}
}

// loaded has queue controllers know that what they have written to a kind may have come with its contents.
func (r *Runtime) loaded(kind reduced.Kind) {
	for _, e := range r.db.Targets(kind) {
		if e.queue != nil {
			e.queue.Loaded(kind)
		}
	}
}

// fillAll gives queue controllers all items of a kind, but for those that they have been told of.
func (r *Runtime) fillAll(kind reduced.Kind, told map[reduced.Key]struct{}) {
	for _, e := range r.db.Primaries(kind) {
		r.fillKind(e, kind, told)
	}
}

// missed has all that depend on the kind look again: classic controllers are woken, queue controllers get all their
// items once more, but for those that they have been told of, since a change of a mapped input may concern any of them.
func (r *Runtime) missed(kind reduced.Kind, told map[reduced.Key]struct{}) {
	for _, e := range r.db.Targets(kind) {
		if e.classic != nil {
			e.classic.Wake(cause.Filled)
		} else {
			r.fill(e, told)
		}
	}
}

// relisted has the classic controllers look again that depend on a kind of which a list was compared with what was known. They may have read a
// resource from the state that came and went between the two, of which nobody is told; past the cache, where there is one.
func (r *Runtime) relisted(kind reduced.Kind) {
	for _, e := range r.db.Targets(kind) {
		if e.classic != nil {
			e.classic.Wake(cause.Filled)
		}
	}
}

// fill puts all known primary inputs of a queue controller into its queue, but for those that it has been told of. Contents
// that have not come yet follow when they do.
func (r *Runtime) fill(e *entry, told map[reduced.Key]struct{}) {
	for _, kind := range e.node.Kinds() {
		r.fillKind(e, kind, told)
	}
}

func (r *Runtime) fillKind(e *entry, kind reduced.Kind, told map[reduced.Key]struct{}) {
	if e.queue == nil {
		return
	}

	whole, ids := e.node.Primary(kind)
	if !whole && len(ids) == 0 {
		return
	}

	if w := r.watches.get(kind); w != nil {
		e.queue.Fill(kind, without(kind, w.fill(whole, ids), told))
	}
}

func (r *Runtime) describe(name string, err error) error {
	return fmt.Errorf("controller %q: %w", name, err)
}
