package runtime

import (
	"context"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/adapter/qruntime"
	"github.com/switchyard-run/switchyard/adapter/rruntime"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/metrics"
	"github.com/switchyard-run/switchyard/reduced"
)

// unit is what both adapters have in common.
type unit interface {
	Start(ctx context.Context)
	Wait()
	Status() adapter.Status
}

func newEntry(name string) *entry {
	return &entry{name: name, done: make(chan struct{}), gone: make(chan struct{})}
}

// entry is one registered controller in the engine.
type entry struct {
	name string
	unit unit
	node *dependency.Node[*entry]

	// classic or queue is the unit, whichever form it has.
	classic *rruntime.Adapter
	queue   *qruntime.Adapter

	// updating is held while inputs are updated, so that updates of one controller are put in force one by one.
	updating sync.Mutex

	// The fields below are guarded by Runtime.mu.
	started       bool
	unregistering bool
	ctx           context.Context // of the controller, nil before it is started
	cancel        context.CancelFunc
	hideQueue     func()

	once sync.Once
	done chan struct{} // closed when the unit has ended
	gone chan struct{} // closed when it was unregistered
}

func (e *entry) deliver(changes []reduced.Metadata, kind controller.InputKind) {
	if e.classic != nil {
		e.classic.QueueReconcile()
	} else {
		e.queue.DeliverAll(changes, kind)
	}
}

// stop waits for the unit to end, in the background; done is closed when it has. Its context has ended before.
func (e *entry) stop() {
	e.once.Do(func() {
		go func() {
			defer close(e.done)

			e.unit.Wait()
		}()
	})
}

// showQueue shows the length of a queue controller's queue among the metrics.
func (e *entry) showQueue(m *metrics.Engine) {
	if e.queue != nil {
		e.hideQueue = m.QueueLength(e.name, e.queue.Len)
	}
}
