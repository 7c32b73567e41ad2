package qruntime

import (
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/switchyard-run/switchyard/reduced"
)

// pass is one call of Reconcile, or the mapping of one resource. It does not change while it runs, so that others can see
// what a worker is at.
type pass struct {
	item item
	// facts are what is known of a resource that is to be mapped; nil otherwise.
	facts *reduced.Facts
	// began is when, counted as the adapter does.
	began time.Duration

	lines
}

// String names the pass for people.
func (p *pass) String() string { return p.item.job.String() + " " + reduced.KeyOf(p.about).String() }

// lines is the core of the logger of a pass: the controller's, with the resource in each line. Most passes log nothing, so
// this is put together when the first line is. It stays what it is after the pass, for whoever has kept the logger.
type lines struct {
	zapcore.Core

	about resource.Pointer // the resource
	once  sync.Once
	full  zapcore.Core
}

func (l *lines) complete() zapcore.Core {
	l.once.Do(func() {
		l.full = l.Core.With([]zap.Field{
			zap.String("namespace", l.about.Namespace()), zap.String("type", l.about.Type()), zap.String("id", l.about.ID()),
		})
	})

	return l.full
}

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
