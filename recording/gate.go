package recording

import "github.com/cosi-project/runtime/pkg/controller"

// gate hands wakeups to a classic controller over an unbuffered channel. The goroutine that does so notes each one that
// was taken before it does anything else, and is asked with settle whether it has: so whatever a controller does after it
// took a wakeup is known to come after it.
type gate struct {
	out chan controller.ReconcileEvent
	// settled is received from by the goroutine of the gate whenever it has nothing left to note.
	settled chan struct{}
	// done is closed by whoever owns the gate, and ends its goroutine.
	done chan struct{}
}

func newGate() *gate {
	return &gate{out: make(chan controller.ReconcileEvent), settled: make(chan struct{}), done: make(chan struct{})}
}

// settle returns when every wakeup that was taken is noted.
func (g *gate) settle() {
	select {
	case g.settled <- struct{}{}:
	case <-g.done:
	}
}

// offer hands out a wakeup and calls taken when the controller has it. More of them are merged into the one that waits. It
// returns false if nobody took it: it was recalled, or the gate is done.
func (g *gate) offer(taken func(), more <-chan controller.ReconcileEvent, recalled <-chan struct{}) bool {
	for {
		select {
		case g.out <- controller.ReconcileEvent{}:
			taken()

			return true
		case <-more:
		case <-recalled:
			return false
		case <-g.settled:
		case <-g.done:
			return false
		}
	}
}
