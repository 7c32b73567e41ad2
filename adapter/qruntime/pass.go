package qruntime

import (
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/reduced"
)

// pass is one call of Reconcile, or the mapping of one resource. It does not change while it runs, so that others can see
// what a worker is at. It is handed to the controller as what it is about, and is never used again, since the controller may
// keep it. One is made for each item, so it holds nothing that the worker can.
type pass struct {
	id resource.ID
	// duty is what is to be done with the resource, which is of its kind.
	duty *duty
	// began is when, counted as the adapter does.
	began time.Duration
}

// String names the pass for people.
func (p *pass) String() string { return p.duty.job.String() + " " + p.key().String() }

func (p *pass) item() item { return item{id: p.id, kind: p.duty.number, job: p.duty.job} }

func (p *pass) kind() reduced.Kind { return p.duty.kind.Kind }

func (p *pass) key() reduced.Key { return reduced.Key{Kind: p.kind(), ID: p.id} }

// about returns the resource.
func (p *pass) about() resource.Pointer { return (*subject)(p) }

// subject is a pass as a pointer to its resource.
type subject pass

// Namespace implements [resource.Pointer].
func (s *subject) Namespace() resource.Namespace { return s.duty.kind.Namespace }

// Type implements [resource.Pointer].
func (s *subject) Type() resource.Type { return s.duty.kind.Type }

// ID implements [resource.Pointer].
func (s *subject) ID() resource.ID { return s.id }

// String renders the resource as the contract does.
func (s *subject) String() string { return (*pass)(s).key().String() }

// lines is the core of the logger of a pass: the controller's, with the resource in each line. Most passes log nothing, so
// this is put together when the first line is. It stays what it is after the pass, for whoever has kept the logger.
type lines struct {
	pass *pass
	// logger is the controller's, and full the core of it with the resource in each line, or nil.
	logger *zap.Logger
	full   atomic.Pointer[zapcore.Core]
}

func (l *lines) base() zapcore.Core { return l.logger.Core() }

func (l *lines) complete() zapcore.Core {
	if full := l.full.Load(); full != nil {
		return *full
	}

	full := l.base().With([]zap.Field{
		zap.String("namespace", l.pass.kind().Namespace), zap.String("type", l.pass.kind().Type), zap.String("id", l.pass.id),
	})
	l.full.CompareAndSwap(nil, &full) // or another goroutine was first

	return *l.full.Load()
}

// Enabled implements [zapcore.Core].
func (l *lines) Enabled(level zapcore.Level) bool { return l.base().Enabled(level) }

// With implements [zapcore.Core].
func (l *lines) With(fields []zap.Field) zapcore.Core { return l.complete().With(fields) }

// Check implements [zapcore.Core].
func (l *lines) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !l.Enabled(entry.Level) {
		return checked
	}

	return l.complete().Check(entry, checked)
}

// Write implements [zapcore.Core].
func (l *lines) Write(entry zapcore.Entry, fields []zap.Field) error {
	return l.complete().Write(entry, fields)
}

// Sync implements [zapcore.Core].
func (l *lines) Sync() error { return l.base().Sync() }
