package qruntime

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
)

// keepWorkers is how many workers without work are kept to be hired again. They have no goroutine.
const keepWorkers = 2

// pool is who works for an adapter.
//
// A worker that looks for an item is enough for all that have become ready: it takes one, and hires another worker if
// there are more. So whoever puts an item mostly sees in a counter that there is nothing to do, and a queue of short passes
// does not start a worker for each.
//
// That no item is left lying rests on an order: whoever puts one puts it first and looks at the counters then; a worker
// that stops looking, or working, says so in the counters first and looks whether there is an item then.
type pool struct {
	limit int32
	// working counts the workers, looking those among them that have not taken an item yet. They change under mu, but for
	// a worker that takes an item or has done with one.
	working, looking atomic.Int32
	// pause is the one in which the controller is, or nil. It changes under mu.
	pause atomic.Pointer[adapter.Pause]

	// mu guards the fields below, and the start of workers: nobody is hired any more once open is false.
	mu      sync.Mutex
	open    bool
	resumed time.Duration // when the last pause has ended, counted as the adapter does; 0 if there was none
	workers []*worker
	resting []*worker
}

// hire starts a worker if there is something to take, nobody who looks for it, and the controller's concurrency allows it.
// The queue calls it whenever something has become ready.
func (a *Adapter) hire() {
	p := &a.pool

	if !p.wanted() || !a.queue.HasReady() {
		return
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.wanted() || !p.open || !a.goesOn() {
		return
	}

	var w *worker

	if last := len(p.resting) - 1; last >= 0 {
		w = p.resting[last]
		p.resting = p.resting[:last]
	} else {
		w = newWorker(a)
	}

	p.workers = append(p.workers, w)
	p.looking.Add(1)
	p.working.Add(1)
	w.start()
}

// goesOn tells whether more passes are to begin: the context has not ended, and the controller is not paused.
func (a *Adapter) goesOn() bool { return a.pause.Load() == nil && a.ctx.Err() == nil }

func (p *pool) wanted() bool { return p.looking.Load() == 0 && p.working.Load() < p.limit }

// retire ends a worker that has found nothing to take, unless there is something by now. What is ready is left alone while
// the controller is paused, and left for Wait to drop once the context has ended.
func (a *Adapter) retire(w *worker) bool {
	p := &a.pool

	p.mu.Lock()
	defer p.mu.Unlock()

	p.looking.Add(-1)
	p.working.Add(-1)

	if p.open && a.goesOn() && a.queue.HasReady() {
		p.looking.Add(1)
		p.working.Add(1)

		return false
	}

	at := slices.Index(p.workers, w)
	p.workers = slices.Delete(p.workers, at, at+1)
	p.quietLocked()

	if len(p.resting) < keepWorkers {
		p.resting = append(p.resting, w)
	}

	return true
}
