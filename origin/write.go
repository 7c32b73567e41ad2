package origin

import (
	"context"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Write is one call of a controller that writes. It is told what it is about to make before each attempt, and what it has
// made, and ended, whatever has become of it. Nil stands for a call that nobody follows.
type Write struct {
	ctx context.Context
	own *Own
	in  *followed
	id  resource.ID
	// note is there from the first attempt on.
	note  *note
	loads uint64

	// expects is the version that it is about to make, or 0, and ends that it is about to destroy.
	expects uint64
	ends    bool
	// has is the version that was made, or 0, and gone that it was destroyed.
	has  uint64
	gone bool
}

// Write returns a call under the context that makes versions of the resource, which has not begun, or nil if the controller is
// not told of these.
func (o *Own) Write(ctx context.Context, key reduced.Key) *Write {
	if o == nil {
		return nil
	}

	changes, _ := o.shown(key)

	return o.call(ctx, key, changes)
}

// Destroy returns a call under the context that destroys the resource, which has not begun, or nil if the controller is not told of that.
func (o *Own) Destroy(ctx context.Context, key reduced.Key) *Write {
	if o == nil {
		return nil
	}

	_, end := o.shown(key)

	return o.call(ctx, key, end)
}

// call returns a call on the resource, if the controller is told of what it does.
func (o *Own) call(ctx context.Context, key reduced.Key, told bool) *Write {
	if !told {
		return nil
	}

	return &Write{ctx: ctx, own: o, in: o.find(key.Kind), id: key.ID}
}

// OnTopOf says that a version is about to be made on top of the one given, or a first one where that is 0.
func (w *Write) OnTopOf(version resource.Version) {
	if w != nil {
		w.attempt(version.Value()+1, false)
	}
}

// Ending says that the resource is about to be destroyed.
func (w *Write) Ending() {
	if w != nil {
		w.attempt(0, true)
	}
}

func (w *Write) attempt(expects uint64, ends bool) {
	o := w.own

	o.mu.Lock()
	defer o.mu.Unlock()

	if w.note == nil {
		w.note, w.loads = o.begin(w.in, w.id), o.loads
	}

	w.retractLocked()

	w.expects, w.ends = expects, ends

	if ends {
		w.note.ending++
	} else {
		w.note.expected = append(w.note.expected, expects)
	}

	o.settle(w.in, w.id, w.note)
}

// retractLocked takes back what was expected.
func (w *Write) retractLocked() {
	n := w.note

	if w.ends {
		n.ending--
	}

	if at := slices.Index(n.expected, w.expects); w.expects != 0 && at >= 0 {
		n.expected = slices.Delete(n.expected, at, at+1)
	}

	w.expects, w.ends = 0, false
}

// Made says that the resource has the version now. If that is not the one that was about to be made, nothing was.
func (w *Write) Made(version resource.Version) {
	if w != nil && w.note != nil && version.Value() == w.expects {
		w.has = w.expects
	}
}

// Ended says that the resource was destroyed.
func (w *Write) Ended() {
	if w != nil {
		w.gone = w.note != nil
	}
}

// End ends the write.
func (w *Write) End() {
	if w == nil || w.note == nil {
		return
	}

	o, n := w.own, w.note

	o.mu.Lock()
	defer o.mu.Unlock()

	if w.has != 0 || w.gone {
		o.count(w.ctx)
	}

	if w.loads == o.loads {
		if w.has != 0 {
			n.made.add(w.has)
		}

		if w.gone {
			n.made.end()
		}
	}

	w.retractLocked()
	n.open--
	o.settle(w.in, w.id, n)
}
