package prom

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

const (
	// DefaultControllers is how many controllers have a label of their own.
	DefaultControllers = 1000
	// DefaultKinds is how many kinds have labels of their own.
	DefaultKinds = 1000
)

// Engine is what is asked of an engine; [runtime.Runtime] is one. Its methods are called by several goroutines at once.
type Engine interface {
	Health() runtime.Health
	Timings(controller string) (cause.Timings, error)
	Counts() map[string]int64
}

// Config is what a collector is made of. Engine is needed.
type Config struct {
	// Engine is whose metrics are collected.
	Engine Engine
	// Controllers is how many controllers have labels of their own; the others share [Others]. Each has some 30 to 60 series. 0 is
	// [DefaultControllers].
	Controllers int
	// Kinds is how many kinds have labels of their own, of three series each. 0 is [DefaultKinds].
	Kinds int
}

// Collector collects the metrics of one engine. Make one with [New]. Of several in one registry each needs a label of its own: see
// [prometheus.WrapRegistererWith]. It is safe for concurrent use.
type Collector struct {
	engine Engine

	// mu guards the fields below: one scrape is answered at a time.
	mu          sync.Mutex
	controllers *labels[string]
	kinds       *labels[reduced.Kind]
	// rest are the controllers that share a label.
	rest rest
}

// New returns a collector.
func New(cfg Config) *Collector {
	if cfg.Controllers <= 0 {
		cfg.Controllers = DefaultControllers
	}

	if cfg.Kinds <= 0 {
		cfg.Kinds = DefaultKinds
	}

	return &Collector{engine: cfg.Engine, controllers: newLabels[string](cfg.Controllers), kinds: newLabels[reduced.Kind](cfg.Kinds)}
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		running, rewritten, pending, watchOpen, watchSynced, known, states,
		controllerState, passes, passesRunning, passDuration, queueWait, items, failingItems, dampedItems, oldestWait,
	} {
		ch <- desc
	}

	for i := range calls {
		ch <- calls[i].desc
	}

	for _, desc := range counts {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector]. It takes time that is linear in controllers and kinds. What panics fails the scrape, as it
// would end the process in the goroutine of whoever gathers.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	err := contain.Call(func() error {
		c.collect(ch)

		return nil
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(running, err)
	}
}

func (c *Collector) collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()

	health := c.engine.Health()

	collectEngine(ch, &health, c.engine.Counts())
	c.collectKinds(ch, health.Kinds)
	c.collectControllers(ch, health.Controllers)
}

func (c *Collector) collectKinds(ch chan<- prometheus.Metric, kinds []runtime.KindHealth) {
	names := make([]reduced.Kind, len(kinds))
	for i := range kinds {
		names[i] = kinds[i].Kind
	}

	c.kinds.look(names)

	var others *kindLevel

	for i := range kinds {
		level := kindLevelOf(&kinds[i])

		if kind := names[i]; c.kinds.has(kind) {
			level.collect(ch, label(kind.Namespace), label(kind.Type))
		} else {
			if others == nil {
				others = &kindLevel{}
			}

			others.add(level)
		}
	}

	if others != nil {
		others.collect(ch, Others, Others)
	}
}

func (c *Collector) collectControllers(ch chan<- prometheus.Metric, controllers []runtime.ControllerHealth) {
	names := make([]string, len(controllers))
	for i := range controllers {
		names[i] = controllers[i].Name
	}

	c.controllers.look(names)
	c.rest.begin()

	counted := map[api.State]int{}
	others := &level{states: map[api.State]int{}}

	for i := range controllers {
		name := names[i]
		counted[answer.StateOf(&controllers[i])]++

		timings, err := c.engine.Timings(name)
		if err != nil {
			continue // it has been unregistered meanwhile
		}

		level, grown := levelOf(&controllers[i], &timings), grownOf(name, &timings)

		if c.controllers.has(name) {
			level.collect(ch, label(name))
			grown.collect(ch, label(name))
		} else {
			others.add(level)
			c.rest.add(name, grown)
		}
	}

	if sum := c.rest.end(); c.rest.ever {
		others.collect(ch, Others)
		sum.collect(ch, Others)
	}

	for _, state := range api.States() {
		ch <- gauge(states, float64(counted[state]), string(state))
	}
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("switchyard_"+name, help, labels, nil)
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func counter(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labels...)
}
