package controllertest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func (w *World) setOverrun(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.overruns[kindOf(kind)] = true
}

// overrun tells whether the bookmark of a kind is refused; the next one is not.
func (w *World) overrun(kind resource.Kind) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	refused := w.overruns[kindOf(kind)]
	delete(w.overruns, kindOf(kind))

	return refused
}

// told notes what is passed on by a watch, and what the engine owes for it.
func (w *World) told(r *relay, events []state.Event) {
	w.trace.note(r.name, "%s", summary(events))

	for _, event := range events {
		switch event.Type {
		case state.Bootstrapped:
			w.forget(r.kind) // contents do not tell what has gone before them
			r.live = true
			r.door.life.listed(r.kind)
		case state.Destroyed:
			w.forget(r.kind)
		}

		if len(event.Bookmark) > 0 {
			w.passed(r.kind, event.Bookmark)
		}

		if event.Resource == nil || event.Type > state.Destroyed {
			continue
		}

		text, by := w.news.told(event)

		for name, q := range r.door.life.queues {
			q.debts.owe(event.Resource.Metadata(), text, r.live && !strings.HasPrefix(by, name+": "))
		}
	}
}

// passed notes a bookmark that was passed on, unless it is told again.
func (w *World) passed(kind resource.Kind, bookmark state.Bookmark) {
	w.mu.Lock()
	defer w.mu.Unlock()

	same := func(other state.Bookmark) bool { return bytes.Equal(bookmark, other) }

	if !slices.ContainsFunc(w.bookmarks[kindOf(kind)], same) {
		w.bookmarks[kindOf(kind)] = append(w.bookmarks[kindOf(kind)], bookmark)
	}
}

// newest tells whether nothing was passed on that is newer than the bookmark. A watch that breaks while it repeats is resumed
// from an older one.
func (w *World) newest(kind resource.Kind, bookmark state.Bookmark) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	passed := w.bookmarks[kindOf(kind)]

	return len(passed) == 0 || bytes.Equal(bookmark, passed[len(passed)-1])
}

// forget makes a watch that repeats begin after this: a state that would tell again of what has gone would bring it back.
func (w *World) forget(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.bookmarks[kindOf(kind)] = nil
}

// earlier returns a bookmark that a watch is resumed from instead of the one that was asked for, or nil.
func (w *World) earlier(r *relay) state.Bookmark {
	w.mu.Lock()
	passed := w.bookmarks[kindOf(r.kind)]
	w.mu.Unlock()

	if len(passed) == 0 || !w.faulty() || !w.draws.odds("repeat in "+r.name, w.faults.Repeats) {
		return nil
	}

	return passed[len(passed)-1-w.draws.pick("how far in "+r.name, len(passed))]
}
