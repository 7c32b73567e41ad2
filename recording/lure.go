package recording

import "github.com/cosi-project/runtime/pkg/controller"

// wakeups are those of the controller.
func (f *follower) wakeups() <-chan controller.ReconcileEvent { return f.gate.out }

// lure has a wakeup on offer while the pass has calls left to make: who takes it has left them out. There is none while the
// pass is to notice an event, or that its context has ended, since it may be waiting for a choice of both.
func (f *follower) lure() {
	if f.gate == nil {
		return
	}

	f.bait.Lock()
	defer f.bait.Unlock()

	f.mu.Lock()
	// A pass that was the last one has to return.
	wanted := !f.noticing && !f.ending && (!f.completeLocked() || f.pass.finish != nil)
	f.mu.Unlock()

	switch {
	case wanted && !f.baited:
		select {
		case f.offers <- nil:
		case <-f.gate.done:
		}
	case !wanted && f.baited:
		select {
		case f.withdraw <- struct{}{}:
		case <-f.gate.done:
		}
	}

	f.baited = wanted
}

// serve hands out wakeups until the gate is done.
func (f *follower) serve() {
	for {
		select {
		case p := <-f.offers:
			f.serveOne(p)
		case <-f.withdraw:
		case <-f.gate.settled:
		case <-f.gate.done:
			return
		}
	}
}

func (f *follower) serveOne(p *recordedPass) {
	f.gate.offer(func() {
		if p == nil {
			f.bitten()

			return
		}

		f.enter(p)

		select {
		case f.taken <- struct{}{}:
		case <-f.gate.done:
		}
	}, nil, f.withdraw)
}

// bitten ends the replay as the controller has taken a wakeup that nobody ought to take.
func (f *follower) bitten() {
	if f.isComplete() {
		f.differ("took a wakeup where Run had returned", everything)
	} else {
		f.differ("took the next wakeup without doing what it had done", everything)
	}
}
