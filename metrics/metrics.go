package metrics

import (
	"expvar"
	"fmt"
	"sync"
	"time"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
)

// Counter is a count that only grows. The zero value counts nothing. Safe for concurrent use.
type Counter struct{ value *expvar.Int }

// Inc adds one.
func (c Counter) Inc() { c.Add(1) }

// Add adds n.
func (c Counter) Add(n int) {
	if c.value != nil {
		c.value.Add(int64(n))
	}
}

// Seconds is a sum of durations in seconds. The zero value sums nothing. Safe for concurrent use.
type Seconds struct{ value *expvar.Float }

// Add adds the duration.
func (s Seconds) Add(d time.Duration) {
	if s.value != nil {
		s.value.Add(d.Seconds())
	}
}

// Controller is what is counted of one controller, of either form.
type Controller struct {
	// Crashes counts failed runs, and for a queue controller failed passes and hooks.
	Crashes Counter
	// Wakeups counts the times a classic controller was woken.
	Wakeups Counter
	// Reads counts reads that went to the state; reads from the cache are not counted.
	Reads Counter
	// Writes counts calls that write, whatever came of them.
	Writes Counter
	// Processed counts finished passes of Reconcile.
	Processed Counter
	// Skips counts passes that ended with a skip.
	Skips Counter
	// Requeues counts items put back for later, by error or on request.
	Requeues Counter
	// MappedIn and MappedOut count calls of MapInput and the pointers they returned.
	MappedIn, MappedOut Counter
	// ReconcileBusy and MapBusy sum the time spent in the callbacks.
	ReconcileBusy, MapBusy Seconds
	// Finished counts classic controllers whose Run has returned for good.
	Finished Counter
}

// Engine is what is counted of one engine. Close takes its gauges and its own map away.
type Engine struct {
	enabled bool
	name    string
	own     *expvar.Map

	// finished is made at once: what is added to own later waits for whoever reads it, and a controller is counted
	// under locks that its gauges take.
	finished Counter

	// mu guards gauges and next.
	mu     sync.Mutex
	gauges map[int]func()
	next   int
}

var lastEngine struct {
	sync.Mutex
	number int
}

// NewEngine returns the metrics of one engine; with enabled false everything it hands out is switched off.
func NewEngine(enabled bool) *Engine {
	e := &Engine{enabled: enabled}

	if !enabled {
		return e
	}

	lastEngine.Lock()
	lastEngine.number++
	e.name = fmt.Sprintf("engine-%d", lastEngine.number)
	lastEngine.Unlock()

	e.own = new(expvar.Map)
	e.finished = counter(e.own, "finished_controllers")

	return e
}

// Name returns the name under which the engine's own metrics appear in the "switchyard" map; empty when off.
func (e *Engine) Name() string { return e.name }

// Open makes the engine's own metrics visible; Close hides them. An engine that runs again opens again.
func (e *Engine) Open() {
	if e.enabled {
		engines.Set(e.name, e.own)
	}
}

// Close removes all gauges of the engine and hides its own metrics. Counts stay in the contract's maps.
func (e *Engine) Close() {
	e.mu.Lock()
	gauges := e.gauges
	e.gauges = nil
	e.mu.Unlock()

	for _, remove := range gauges {
		remove()
	}

	if e.enabled {
		engines.Delete(e.name)
	}
}

// Count returns the engine's own counter of the name.
func (e *Engine) Count(name string) Counter {
	if !e.enabled {
		return Counter{}
	}

	return counter(e.own, name)
}

// Classic returns the metrics of a classic controller.
func (e *Engine) Classic(name string) Controller {
	if !e.enabled {
		return Controller{}
	}

	return Controller{
		Crashes:  counter(contract.ControllerCrashes, name),
		Wakeups:  counter(contract.ControllerWakeups, name),
		Reads:    counter(contract.ControllerReads, name),
		Writes:   counter(contract.ControllerWrites, name),
		Finished: e.finished,
	}
}

// Queue returns the metrics of a queue controller.
func (e *Engine) Queue(name string) Controller {
	if !e.enabled {
		return Controller{}
	}

	return Controller{
		Crashes:       counter(contract.QControllerCrashes, name),
		Reads:         counter(contract.ControllerReads, name),
		Writes:        counter(contract.ControllerWrites, name),
		Processed:     counter(contract.QControllerProcessed, name),
		Skips:         counter(contract.QControllerSkips, name),
		Requeues:      counter(contract.QControllerRequeues, name),
		MappedIn:      counter(contract.QControllerMappedIn, name),
		MappedOut:     counter(contract.QControllerMappedOut, name),
		ReconcileBusy: seconds(contract.QControllerReconcileBusy, name),
		MapBusy:       seconds(contract.QControllerMapBusy, name),
	}
}

// QueueLength shows read as the queue length of a controller until the function it returns is called, or the engine is
// closed. Queues of controllers of one name are added up.
func (e *Engine) QueueLength(name string, read func() int) (remove func()) {
	return e.gauge(contract.QControllerQueueLength, name, read)
}

// CachedResources shows read among the cached resources of a type, in the same way.
func (e *Engine) CachedResources(typ resource.Type, read func() int) (remove func()) {
	return e.gauge(contract.CachedResources, typ, read)
}

// Gauge shows read under a name of the engine's own map, in the same way.
func (e *Engine) Gauge(name string, read func() int) (remove func()) {
	return e.gauge(e.own, name, read)
}

func (e *Engine) gauge(m *expvar.Map, key string, read func() int) func() {
	if !e.enabled {
		return func() {}
	}

	remove := sync.OnceFunc(addGauge(m, key, read))

	e.mu.Lock()
	defer e.mu.Unlock()

	if e.gauges == nil {
		e.gauges = map[int]func(){}
	}

	number := e.next
	e.next++
	e.gauges[number] = remove

	return func() {
		e.mu.Lock()
		delete(e.gauges, number)
		e.mu.Unlock()

		remove()
	}
}

func counter(m *expvar.Map, key string) Counter {
	m.Add(key, 0)
	value, _ := m.Get(key).(*expvar.Int)

	return Counter{value}
}

func seconds(m *expvar.Map, key string) Seconds {
	m.AddFloat(key, 0)
	value, _ := m.Get(key).(*expvar.Float)

	return Seconds{value}
}
