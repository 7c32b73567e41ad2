package stateadapter

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/owned"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// Declarations answers what a controller may do. It must be safe for concurrent use and answer in constant time.
type Declarations interface {
	ReadsKind(kind reduced.Kind) bool
	Reads(key reduced.Key) bool
	Holds(key reduced.Key) bool
	Writes(typ resource.Type) bool
}

// Shared is what the adapters of one engine have in common. All fields are needed, and none is changed.
type Shared struct {
	// State is where writes and uncached reads go.
	State state.State
	// Cache answers reads of cached kinds.
	Cache *cache.Cache
	// Clock is what limiters wait on.
	Clock clockwork.Clock
	// Barrier waits for the caches of kinds to show everything that was written before the call.
	Barrier cache.Barrier
	// WarnOnUncachedReads logs reads of kinds that are not cached, once per kind, unless the read asked to be uncached.
	WarnOnUncachedReads bool
}

// Config is what an adapter is made of. All fields but Own, Trace, Writer, Limiter and Called are needed.
type Config struct {
	*Shared

	// Name is the controller's name, and the owner of what it creates.
	Name string
	// Declared is what the calls are checked against.
	Declared Declarations
	// Own is told what the controller writes to its own inputs; nil means that nobody asks.
	Own *origin.Own
	// Trace is told what passes read and write; nil means that nobody asks.
	Trace *cause.Tracer
	// Writer is told what the controller writes, where others may write that, too; nil means that nobody asks.
	Writer *rivalry.Writer
	// Limiter caps the rate of writes; nil means no limit.
	Limiter *rate.Limiter
	// Metrics counts reads and writes.
	Metrics *metrics.Calls
	// Logger is the controller's, which names it in every line.
	Logger *zap.Logger
	// Called is called first at each call of the controller, allowed or not; nil means that nobody asks.
	Called func()
}

var (
	_ controller.Reader         = (*Adapter)(nil)
	_ controller.UncachedReader = (*Adapter)(nil)
	_ controller.Writer         = (*Adapter)(nil)
	_ RunningFinalizerAdder     = (*Adapter)(nil)
)

// Adapter is the state as one controller may use it. All methods are safe for concurrent use.
type Adapter struct {
	cfg     common
	rare    *rare // nil where there is nothing of it
	outputs outputs
	own     own
	// spare is a modification for the next Modify, or nil.
	spare atomic.Pointer[modification]
}

// common is what all adapters have of their configuration, and rare what few have: thousands of controllers need not have room
// for it.
type (
	common struct {
		*Shared

		Name     string
		Declared Declarations
		Own      *origin.Own
		Trace    *cause.Tracer
		Metrics  *metrics.Calls
		Logger   *zap.Logger
	}

	rare struct {
		writer  *rivalry.Writer
		limiter *rate.Limiter
		called  func()
		warned  *sync.Map // reduced.Kind of which an uncached read was warned about; nil without the warning
	}
)

// New returns an adapter. It is for whoever has no place for one.
func New(cfg Config) *Adapter {
	a := &Adapter{}
	a.Init(cfg)

	return a
}

// Init makes an adapter of a zero value, which may be a part of something larger.
func (a *Adapter) Init(cfg Config) {
	a.cfg = common{cfg.Shared, cfg.Name, cfg.Declared, cfg.Own, cfg.Trace, cfg.Metrics, cfg.Logger}

	if cfg.Writer != nil || cfg.Limiter != nil || cfg.Called != nil || cfg.WarnOnUncachedReads {
		a.rare = &rare{writer: cfg.Writer, limiter: cfg.Limiter, called: cfg.Called}
	}

	if cfg.WarnOnUncachedReads {
		a.rare.warned = &sync.Map{}
	}
}

// Name returns the name of the controller.
func (a *Adapter) Name() string { return a.cfg.Name }

// Logger returns the controller's logger.
func (a *Adapter) Logger() *zap.Logger { return a.cfg.Logger }

// owned is the state as one who owns what it writes.
func (a *Adapter) owned() *owned.State { return owned.New(a.cfg.State, a.cfg.Name) }

// Get returns a resource that is an input or an output, from the cache if its kind is cached.
func (a *Adapter) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	var key reduced.Key

	reduce(&key, ptr)

	res, err := a.get(ctx, ptr, &key, opts)
	if a.cfg.Trace != nil {
		a.haveRead(ctx, &key, res, err)
	}

	return res, err
}

func (a *Adapter) get(ctx context.Context, ptr resource.Pointer, key *reduced.Key, opts []state.GetOption) (resource.Resource, error) {
	if err := a.permit(Get, key, a.cfg.Declared.Reads(*key), ErrNotReadable); err != nil {
		return nil, err
	}

	if c := a.cached(key.Kind); c != nil && cache.ServesGet(opts) {
		view, ok, err := a.newest(ctx, Get, *key, c)
		if err != nil {
			return nil, err
		}

		if ok {
			return view.Get(key.ID)
		}
	}

	a.cfg.Metrics.Read()

	return a.cfg.State.Get(ctx, ptr, opts...)
}

// List returns the resources of a kind that is an input as a whole or an output, from the cache if it is cached.
func (a *Adapter) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	key := reduced.Key{Kind: reduced.KindOf(kind)}

	if err := a.permit(List, &key, a.cfg.Declared.ReadsKind(key.Kind), ErrNotReadable); err != nil {
		return resource.List{}, err
	}

	a.cfg.Trace.Read(ctx, key, 0)

	if c := a.cached(key.Kind); c != nil {
		if options, served := cache.ServesList(opts); served {
			view, ok, err := a.newest(ctx, List, key, c)
			if err != nil {
				return resource.List{}, err
			}

			if ok {
				return view.List(options), nil
			}
		}
	}

	a.cfg.Metrics.Read()

	return a.cfg.State.List(ctx, kind, opts...)
}

// GetUncached is Get, but always asks the state.
func (a *Adapter) GetUncached(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	var key reduced.Key

	reduce(&key, ptr)

	if err := a.permit(Get, &key, a.cfg.Declared.Reads(key), ErrNotReadable); err != nil {
		return nil, err
	}

	a.cfg.Metrics.Read()

	res, err := a.cfg.State.Get(ctx, ptr, opts...)
	if a.cfg.Trace != nil {
		a.haveRead(ctx, &key, res, err)
	}

	return res, err
}

// haveRead notes that a pass has read a resource, or that there is none.
func (a *Adapter) haveRead(ctx context.Context, key *reduced.Key, res resource.Resource, err error) {
	switch {
	case err == nil:
		a.cfg.Trace.ReadVersion(ctx, *key, res)
	case isNotFound(err):
		a.cfg.Trace.Read(ctx, *key, 0)
	}
}

// isNotFound is [state.IsNotFoundError], which allocates, for what is mostly an error of the cache.
func isNotFound(err error) bool {
	if _, ok := err.(*cache.NotFoundError); ok {
		return true
	}

	return state.IsNotFoundError(err)
}

// ListUncached is List, but always asks the state.
func (a *Adapter) ListUncached(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	key := reduced.Key{Kind: reduced.KindOf(kind)}

	if err := a.permit(List, &key, a.cfg.Declared.ReadsKind(key.Kind), ErrNotReadable); err != nil {
		return resource.List{}, err
	}

	a.cfg.Trace.Read(ctx, key, 0)
	a.cfg.Metrics.Read()

	return a.cfg.State.List(ctx, kind, opts...)
}

// ContextWithTeardown returns a context that is cancelled when a readable resource is tearing down or gone. For a
// cached kind it costs no goroutine.
func (a *Adapter) ContextWithTeardown(ctx context.Context, ptr resource.Pointer) (context.Context, error) {
	key := reduced.KeyOf(ptr)

	if err := a.permit(ContextWithTeardown, &key, a.cfg.Declared.Reads(key), ErrNotReadable); err != nil {
		return nil, err
	}

	a.cfg.Trace.Read(ctx, key, 0)

	if c := a.cached(key.Kind); c != nil && !a.own.unseen(c, key.ID) {
		watched, ok, err := c.ContextWithTeardown(ctx, a.cfg.Name, key.ID)
		if err != nil {
			return nil, a.unsynced(ContextWithTeardown, key, err)
		}

		if ok {
			return watched, nil
		}
	}

	a.cfg.Metrics.Read()

	return a.cfg.State.ContextWithTeardown(ctx, ptr)
}

// cached returns the collection of a cached kind, or warns and returns nil.
func (a *Adapter) cached(kind reduced.Kind) *cache.Collection {
	if c := a.cfg.Cache.Collection(kind); c != nil {
		return c
	}

	if a.rare != nil && a.rare.warned != nil {
		if _, known := a.rare.warned.LoadOrStore(kind, struct{}{}); !known {
			a.cfg.Logger.Warn("controller reads a kind that is not cached", zap.Stringer("kind", kind))
		}
	}

	return nil
}

func (a *Adapter) unsynced(verb Verb, key reduced.Key, err error) error {
	return fmt.Errorf("controller %q could not %s %s: its cache has no first contents yet: %w", a.cfg.Name, verb, key, err)
}

// reduce is [reduced.KeyOf] into its place, for calls that are short: what is returned as words, and then copied in larger pieces, keeps
// a processor waiting.
func reduce(key *reduced.Key, ptr resource.Pointer) {
	key.Namespace, key.Type, key.ID = ptr.Namespace(), ptr.Type(), ptr.ID()
}

// permit is the guard of all calls.
func (a *Adapter) permit(verb Verb, key *reduced.Key, allowed bool, reason error) error {
	if allowed && a.rare == nil { // the most calls by far, and this much becomes a part of the caller
		return nil
	}

	return a.judge(verb, key, allowed, reason)
}

func (a *Adapter) judge(verb Verb, key *reduced.Key, allowed bool, reason error) error {
	a.noteCall()

	if allowed {
		return nil
	}

	return a.refuse(verb, key, reason)
}

func (a *Adapter) refuse(verb Verb, key *reduced.Key, reason error) error {
	return &RefusedError{Reason: reason, Controller: a.cfg.Name, Verb: verb, Resource: key.Pointer()}
}

// noteCall tells who has asked for it of a call.
func (a *Adapter) noteCall() {
	if a.rare != nil && a.rare.called != nil {
		a.rare.called()
	}
}
