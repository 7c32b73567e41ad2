package controllertest

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime"
)

// life is one run of an engine: from its start to its end, or to a crash of the process it is in.
type life struct {
	world  *World
	engine *runtime.Runtime
	number int

	cancel context.CancelFunc
	// dead tells that the process has crashed: nothing it does has any effect.
	dead atomic.Bool
	// ending tells that the engine was told to end: it begins no passes any more.
	ending atomic.Bool
	relays sync.WaitGroup
	queues map[string]*queued // by name; it changes while nothing else moves
	closes func()             // what was put between the state and the engine
	ended  chan struct{}
	err    error // what Run returned, once ended is closed
}

// live starts an engine with the controllers.
func (w *World) live() error {
	l := &life{world: w, number: w.lives + 1, ended: make(chan struct{}), closes: func() {}, queues: map[string]*queued{}}
	w.lives++
	w.cast.next()

	inner := w.core
	if w.between != nil {
		inner, l.closes = w.between(inner)
	}

	cfg := w.config
	if cfg.Passes == 0 {
		cfg.Passes = cause.DefaultPasses
	}

	if cfg.Seed == 0 {
		cfg.Seed = w.draws.schedule.Seed
	}

	engine, err := runtime.New(state.WrapCore(&door{life: l, inner: inner}), zap.New(&log{life: l}), cfg)
	if err != nil {
		return fmt.Errorf("the engine can not be made: %w", err)
	}

	l.engine = engine

	if err = w.register(registrar{l}); err != nil {
		return fmt.Errorf("the controllers can not be registered: %w", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel

	go func() {
		defer close(l.ended)

		l.err = engine.Run(ctx)
	}()

	w.life = l

	return nil
}

// crash ends the goroutine that writes, and the process if that crashes as a whole. Nothing in between can keep it from
// doing so.
func (l *life) crash(by *actor, where string, process bool) {
	what := "the pass"

	if process {
		what = "the process"

		l.dead.Store(true)
		l.world.sched.nudge()
	}

	l.world.trace.note(by.String(), "%s crashes %s", what, where)
	goruntime.Goexit()
}

// end stops the engine and waits for all that belongs to it.
func (l *life) end() {
	l.ending.Store(true)
	l.cancel()

	limit := time.NewTimer(patience)
	defer limit.Stop()

	select {
	case <-l.ended:
	case <-limit.C:
		// Nothing in the bubble can end any more, and so the test can not: what is known has to be said now.
		panic(l.stragglers())
	}

	l.relays.Wait()
	l.closes()
}

// stragglers tells who has not returned, and what has failed before.
func (l *life) stragglers() string {
	var names []string

	for _, ctrl := range l.engine.Health().Controllers {
		if ctrl.Phase != adapter.Stopped && ctrl.Phase != adapter.Finished {
			names = append(names, strings.TrimSpace(ctrl.Name+" "+ctrl.Doing))
		}
	}

	l.world.mu.Lock()
	defer l.world.mu.Unlock()

	return fmt.Sprintf("controllertest: these controllers have not returned, %s after their context has ended: %s\n%s",
		patience, strings.Join(names, ", "), strings.Join(l.world.failures, "\n"))
}

// log takes what the engine and the controllers log into the trace, from warnings on.
type log struct {
	life   *life
	fields []zapcore.Field
}

var _ zapcore.Core = (*log)(nil)

// Enabled implements [zapcore.LevelEnabler].
func (c *log) Enabled(level zapcore.Level) bool {
	return level >= zapcore.WarnLevel && !c.life.dead.Load()
}

// With implements [zapcore.Core].
func (c *log) With(fields []zapcore.Field) zapcore.Core {
	return &log{life: c.life, fields: append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

// Check implements [zapcore.Core].
func (c *log) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}

	return checked
}

// Write implements [zapcore.Core].
func (c *log) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()

	for _, field := range append(c.fields[:len(c.fields):len(c.fields)], fields...) {
		if field.Key != "stack" {
			field.AddTo(values)
		}
	}

	c.life.world.logged(entry, values.Fields)

	return nil
}

// Sync implements [zapcore.Core].
func (c *log) Sync() error { return nil }
