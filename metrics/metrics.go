package metrics

import (
	"cmp"
	"expvar"
	"fmt"
	"maps"
	"slices"
	"sync"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/cosi-project/runtime/pkg/resource"
)

// Engine is what is counted of one engine. Close takes its gauges and its own map away.
type Engine struct {
	enabled bool
	name    string
	own     *expvar.Map

	// finished and damped enter own at once: what does so later waits for whoever reads it, and a reader asks the gauges.
	finished, damped *Counter

	// mu guards gauges.
	mu     sync.Mutex
	gauges map[*Gauge]struct{}
}

var lastEngine struct {
	sync.Mutex
	number int
}

// NewEngine returns the metrics of one engine; with enabled false everything it hands out is switched off.
func NewEngine(enabled bool) *Engine {
	e := &Engine{enabled: enabled}

	if !enabled {
		e.finished = &Counter{}

		return e
	}

	lastEngine.Lock()
	lastEngine.number++
	e.name = fmt.Sprintf("engine-%d", lastEngine.number)
	lastEngine.Unlock()

	e.own = new(expvar.Map)
	e.gauges = map[*Gauge]struct{}{}
	e.finished = e.Count("finished_controllers")
	e.damped = e.Count("damped_passes")

	return e
}

// Finished counts the classic controllers of the engine whose Run has returned for good.
func (e *Engine) Finished() *Counter { return e.finished }

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
	e.gauges = map[*Gauge]struct{}{}
	e.mu.Unlock()

	// A map closes the gap behind a key that goes: the last one first, there is none.
	for _, g := range slices.SortedFunc(maps.Keys(gauges), func(a, b *Gauge) int { return cmp.Compare(b.key, a.key) }) {
		g.leave()
	}

	if e.enabled {
		engines.Delete(e.name)
	}
}

// Count returns the engine's own counter of the name, which is there from now on.
func (e *Engine) Count(name string) *Counter {
	c := &Counter{}

	if e.enabled {
		e.own.Add(name, 0)

		shown, _ := e.own.Get(name).(*expvar.Int)
		c.shown.Store(shown)
	}

	return c
}

// QueueLength shows read as the queue length of a controller until the gauge is removed or the engine is closed. Queues
// of controllers of one name are added up. Of an engine whose metrics are off, gauges are nil.
func (e *Engine) QueueLength(name string, read func() int) *Gauge {
	return e.gauge(contract.QControllerQueueLength, name, read)
}

// CachedResources shows read among the cached resources of a type, in the same way.
func (e *Engine) CachedResources(typ resource.Type, read func() int) *Gauge {
	return e.gauge(contract.CachedResources, typ, read)
}

// Gauge shows read under a name of the engine's own map, in the same way.
func (e *Engine) Gauge(name string, read func() int) *Gauge {
	return e.gauge(e.own, name, read)
}

func (e *Engine) gauge(m *expvar.Map, key string, read func() int) *Gauge {
	if !e.enabled {
		return nil
	}

	g := &Gauge{engine: e, in: m, key: key, read: read}
	g.enter()

	e.mu.Lock()
	defer e.mu.Unlock()

	e.gauges[g] = struct{}{}

	return g
}

// Counts returns what the engine's own map holds now: the counts, and until the engine is closed the gauges. It is empty when off.
func (e *Engine) Counts() map[string]int64 {
	counts := map[string]int64{}

	if e.enabled {
		e.own.Do(func(kv expvar.KeyValue) {
			if v, ok := kv.Value.(interface{ Value() int64 }); ok {
				counts[kv.Key] = v.Value()
			}
		})
	}

	return counts
}

func (e *Engine) forget(g *Gauge) {
	e.mu.Lock()
	defer e.mu.Unlock()

	delete(e.gauges, g)
}
