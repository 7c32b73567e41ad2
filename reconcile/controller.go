package reconcile

import (
	"context"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/queue"
)

// ControllerOption changes a [Controller].
type ControllerOption func(*controllerConfig)

type controllerConfig struct {
	workers int
	scopes  []resource.Namespace
	logger  *zap.Logger
}

// WithWorkers sets how many keys are worked on at once. The default is 1, and less counts as that. One key is never worked on
// by two workers, however many there are.
func WithWorkers(n int) ControllerOption { return func(c *controllerConfig) { c.workers = max(n, 1) } }

// WithScopes sets the namespaces whose resources a [Manager] lists for a kind. The default is the one that the definition of the
// kind in the state says resources are in. Hints are taken for all namespaces.
func WithScopes(scopes ...resource.Namespace) ControllerOption {
	return func(c *controllerConfig) { c.scopes = scopes }
}

// WithLogger sets where failures are told of. The default is nowhere.
func WithLogger(logger *zap.Logger) ControllerOption {
	return func(c *controllerConfig) { c.logger = logger }
}

func configOf(opts []ControllerOption) controllerConfig {
	cfg := controllerConfig{workers: 1, logger: zap.NewNop()}
	for _, opt := range opts {
		opt(&cfg)
	}

	return cfg
}

// Controller runs a [Reconciler] on the keys of a queue. What follows a pass is what [Classify] says of its outcome: a key that
// has failed is tried again after the backoff of the queue, one that has halted is left alone until it is added again.
//
// Its methods are safe for concurrent use; Run is called once.
type Controller[T comparable] struct {
	name       string
	queue      *queue.Queue[T]
	reconciler Reconciler[T]
	cfg        controllerConfig
}

// NewController returns a controller that takes keys from the queue. The name is for logs.
func NewController[T comparable](name string, q *queue.Queue[T], reconciler Reconciler[T], opts ...ControllerOption) *Controller[T] {
	cfg := configOf(opts)
	cfg.logger = cfg.logger.With(zap.String("controller", name))

	return &Controller[T]{name: name, queue: q, reconciler: reconciler, cfg: cfg}
}

// Queue returns the queue, for whoever adds keys.
func (c *Controller[T]) Queue() *queue.Queue[T] { return c.queue }

// Run works until the context ends, and returns when all workers have: it shuts the queue down then. Keys that are ready at that
// time are taken from the queue and not worked on.
func (c *Controller[T]) Run(ctx context.Context) {
	var workers sync.WaitGroup

	for range c.cfg.workers {
		contain.Loop(&workers, func() bool { return c.next(ctx) }, func() {})
	}

	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
}

// next works on one key, and tells whether there may be more.
func (c *Controller[T]) next(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}

	if ctx.Err() == nil {
		c.work(ctx, key)
	} else {
		c.queue.Done(key)
	}

	return true
}

// work makes a pass, and has what follows from it also where the pass ends the goroutine.
func (c *Controller[T]) work(ctx context.Context, key T) {
	var result Result

	err := contain.ErrGoexit

	defer func() { c.follow(ctx, key, result, err) }()

	result, err = c.pass(ctx, key)
}

// pass calls the reconciler. A panic is an error of it.
func (c *Controller[T]) pass(ctx context.Context, key T) (result Result, err error) {
	err = contain.Call(func() (err error) {
		result, err = c.reconciler.Reconcile(ctx, key)

		return err
	})

	return result, err
}

// follow has what follows from the outcome of a pass. The key waits for one pass at most: what this one asks for takes the
// place of what the one before has asked for.
func (c *Controller[T]) follow(ctx context.Context, key T, result Result, err error) {
	verdict, after, err := judged(ctx, err)

	if verdict == Succeeded && err == nil {
		after = result.RequeueAfter
	}

	if verdict == Succeeded || verdict == Pending || verdict == Halted {
		c.queue.Forget(key)
	}

	switch {
	case after > 0:
		c.queue.DoneAfter(key, after)
	case verdict == Failed:
		c.queue.DoneRateLimited(key)
	default:
		c.queue.Done(key)
	}

	switch verdict {
	case Failed:
		c.log("pass failed and will be run again", key, err)
	case Halted:
		c.log("pass failed, and trying again does not help", key, err, zap.Stringer("class", ClassOf(err)))
	}
}

// judged is Classify for errors of any make: one that panics when it is asked for its class has failed, and the panic is the error.
func judged(run context.Context, failed error) (verdict Verdict, after time.Duration, err error) {
	panicked := contain.Call(func() error {
		verdict, after = Classify(run, failed)

		return nil
	})
	if panicked != nil {
		return Failed, 0, panicked
	}

	return verdict, after, failed
}

func (c *Controller[T]) log(what string, key T, err error, more ...zap.Field) {
	c.cfg.logger.Error(what, append(append(more, zap.Any("key", key)), contain.Fields(err)...)...)
}
