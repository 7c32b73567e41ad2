package rivalry

import (
	"math"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/internal/index"
	"github.com/switchyard-run/switchyard/reduced"
)

// Writer is a controller that a finder is told of. Nil is one that nobody is told of.
type Writer struct {
	finder *Finder
	name   string
	number uint16
}

// Enter makes a controller known to the finder, which writes what others may write, too.
func (f *Finder) Enter(name string) *Writer {
	if f == nil {
		return nil
	}

	return &Writer{finder: f, name: name, number: uint16(f.numbers.Add(1)%math.MaxUint16) + 1}
}

// Name returns the name of the controller.
func (w *Writer) Name() string { return w.name }

// Write returns a write to a resource, which has not begun, or nil if nobody is told of it.
func (w *Writer) Write(ptr resource.Pointer) *Write {
	if w == nil {
		return nil
	}

	return &Write{writer: w, resource: ptr}
}

// Write is one call of a controller that writes. It is told what it is about to make before each attempt, and what it has made,
// or ended. Nil stands for a call that nobody follows.
type Write struct {
	writer   *Writer
	resource resource.Pointer

	// expects is the version that it is about to make, and 0 is none, or that it is about to destroy the resource.
	expects uint64
	// rivals are those who were told of that, or nil.
	rivals *rivals
}

// OnTopOf says that a version is about to be made on top of the one given, or a first one where that is 0.
func (w *Write) OnTopOf(version resource.Version) {
	if w != nil {
		w.attempt(version.Value() + 1)
	}
}

// Ending says that the resource is about to be destroyed.
func (w *Write) Ending() {
	if w != nil {
		w.attempt(0)
	}
}

func (w *Write) attempt(expects uint64) {
	before := w.expects
	w.expects = expects

	if f := w.writer.finder; !f.None() || w.rivals != nil {
		f.mu.Lock()
		defer f.mu.Unlock()

		w.retractLocked(before)
		w.expectLocked()
	}
}

// expectLocked has rivals know of what one of them is about to do.
func (w *Write) expectLocked() {
	r := w.writer.finder.rivalries[reduced.KeyOf(w.resource)]
	if r != nil && r.has(w.writer) {
		r.expect(w.expects)
		w.rivals = r
	}
}

func (w *Write) retractLocked(expected uint64) {
	if w.rivals != nil {
		w.rivals.retract(expected)
		w.rivals = nil
	}
}

// Made says what the resource is now. If that is not the version that was about to be made, nothing was.
func (w *Write) Made(res resource.Resource) {
	if w == nil || w.expects == 0 || res.Metadata().Version().Value() != w.expects {
		return
	}

	w.rivals = nil // nothing is to be taken back
	w.writer.finder.note(w.writer, reduced.KeyOf(w.resource), func() (contents, bool) { return contentsOf(res) })
}

// Ended says that the resource was destroyed.
func (w *Write) Ended() {
	if w == nil {
		return
	}

	w.rivals = nil
	w.writer.finder.note(w.writer, reduced.KeyOf(w.resource), func() (contents, bool) { return contents{gone: true}, true })
}

// End ends the write: what it has not made is not expected any more.
func (w *Write) End() {
	if w == nil || w.rivals == nil {
		return
	}

	f := w.writer.finder

	f.mu.Lock()
	defer f.mu.Unlock()

	w.retractLocked(w.expects)
}

func hashOf(key reduced.Key) uint64 {
	return index.Hash(key.ID, index.Hash(key.Type, index.Hash(key.Namespace, 0)))
}
