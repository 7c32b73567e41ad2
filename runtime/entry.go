package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
)

// unit is what both adapters have in common.
type unit interface {
	Start(ctx context.Context)
	Wait()
	Status() adapter.Status
	// Unfinished returns what keeps the unit from ending, and since when it runs.
	Unfinished() (since time.Time, doing string)
	// Pause and Resume stop giving work to the controller, and give it again; Paused tells which of the two is the case.
	Pause() *adapter.Pause
	Resume()
	Paused() bool
}

// entry is one registered controller in the engine.
type entry struct {
	runtime *Runtime
	node    *dependency.Node[*entry] // set once the declaration was accepted

	// classic or queue is there, whichever form the controller has.
	classic *rruntime.Adapter
	queue   *qruntime.Adapter
	// trace is what its passes are remembered in, or nil.
	trace *cause.Tracer

	// updating is held while inputs are updated, so that updates of one controller are put in force one by one.
	updating sync.Mutex

	// The fields below are guarded by Runtime.mu.
	entered bool // it was registered, and was not unregistered
	waits   bool // the wakeup that it begins with is counted when the engine runs, see Runtime.count
	started bool
	ctx     context.Context // that ends the controller; nil before it is started, not changed afterwards
	cancel  context.CancelFunc
	length  *metrics.Gauge // of the queue, while the engine runs
	gone    chan struct{}  // made when it is being unregistered, closed when it was

	done chan struct{} // made by stop, closed when the unit has ended
}

// classicEntry is the entry of a classic controller with its adapter, in one piece of memory.
type classicEntry struct {
	entry

	adapter rruntime.Adapter
}

// name returns the name of the controller.
func (e *entry) name() string { return e.node.Name() }

// inside is the context of a started controller, which knows whose it is: that of its entry.
type inside entry

// insideKey is the key under which the context of a controller holds its name.
type insideKey struct{ runtime *Runtime }

// Deadline implements [context.Context].
func (c *inside) Deadline() (time.Time, bool) { return c.ctx.Deadline() }

// Done implements [context.Context].
func (c *inside) Done() <-chan struct{} { return c.ctx.Done() }

// Err implements [context.Context].
func (c *inside) Err() error { return c.ctx.Err() }

// Value implements [context.Context].
func (c *inside) Value(key any) any {
	if key == any(insideKey{c.runtime}) {
		return (*entry)(c).name()
	}

	return c.ctx.Value(key)
}

// unit returns the adapter, whichever it is.
func (e *entry) unit() unit {
	if e.classic != nil {
		return e.classic
	}

	return e.queue
}

func (e *entry) deliver(changes []reduced.Metadata, kind controller.InputKind) {
	if e.classic != nil {
		if in := e.runtime.intake; in.told.explains {
			because := in.because(changes, kind)
			e.classic.Deliver(because.At(), because)
		} else {
			e.classic.Deliver(in.at(), nil)
		}
	} else {
		e.queue.Deliver(changes, kind)
	}
}

// stop waits for the unit to end, in the background, and makes done, which is closed when it has. Its context has ended
// before. Runtime.mu is held.
func (e *entry) stop() {
	if e.done != nil {
		return
	}

	done := make(chan struct{})
	e.done = done

	go func() {
		defer close(done)

		e.unit().Wait()
	}()
}

// showQueue shows the length of a queue controller's queue among the metrics.
func (e *entry) showQueue(m *metrics.Engine) {
	if e.queue != nil {
		e.length = m.QueueLength(e.name(), e.queue.Len)
	}
}
