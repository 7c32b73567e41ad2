package prom

import (
	"expvar"

	contract "github.com/cosi-project/runtime/pkg/controller/runtime/metrics"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

const controllerLabel = "controller"

var (
	states = desc("controllers", "Controllers that are registered, by what they are doing.", "state")

	controllerState = desc("controller_state", "1 for what the controller is doing.", controllerLabel, "state")
	passes          = desc("controller_passes_total", "Passes of the controller that have ended, by what has come of them.", controllerLabel, "outcome")
	passesRunning   = desc("controller_running_passes", "Passes of the controller that run.", controllerLabel)
	passDuration    = desc("controller_pass_duration_seconds", "How long passes of the controller have taken.", controllerLabel)
	queueWait       = desc("controller_queue_wait_seconds", "How long what passes were for had waited, from when it could be taken.", controllerLabel)
	items           = desc("controller_items", "Items of a queue controller: to be taken, to be taken later, and in a pass.", controllerLabel, "state")
	failingItems    = desc("controller_failing_items", "Items of a queue controller that have failed since they last succeeded.", controllerLabel)
	dampedItems     = desc("controller_damped_items", "Items of a queue controller that wait because its own passes write what wakes them.", controllerLabel)
	oldestWait      = desc("controller_oldest_wait_seconds", "How long the work has waited that has waited longest.", controllerLabel)
)

// calls are the counts of the contract, which are those of all engines of a process whose controllers have one name.
var calls = [...]struct {
	of   *expvar.Map
	desc *prometheus.Desc
}{
	{contract.ControllerCrashes, desc("controller_crashes_total", "Runs of the classic controller that have failed.", controllerLabel)},
	{contract.ControllerWakeups, desc("controller_wakeups_total", "Wakeups of the classic controller.", controllerLabel)},
	{contract.ControllerReads, desc("controller_reads_total", "Reads of the controller that went to the state.", controllerLabel)},
	{contract.ControllerWrites, desc("controller_writes_total", "Writes of the controller, whatever came of them.", controllerLabel)},
	{contract.QControllerCrashes, desc("controller_failures_total", "Passes and hooks of the queue controller that have failed.", controllerLabel)},
	{contract.QControllerRequeues, desc("controller_requeues_total", "Items of the queue controller that were put back for later.", controllerLabel)},
	{contract.QControllerMappedIn, desc("controller_mapped_inputs_total", "Changes that the queue controller has mapped to items.", controllerLabel)},
	{contract.QControllerMappedOut, desc("controller_mapped_items_total", "Items to which it has mapped them.", controllerLabel)},
	{contract.QControllerReconcileBusy, desc("controller_reconcile_seconds_total", "Time that the queue controller has spent in Reconcile.", controllerLabel)},
	{contract.QControllerMapBusy, desc("controller_map_seconds_total", "Time that the queue controller has spent in MapInput.", controllerLabel)},
}

// outcomes are what passes that have ended are counted by.
var outcomes = [...]cause.Outcome{cause.Succeeded, cause.Skipped, cause.Requeued, cause.Failed, cause.Stopped}

// grown is what only grows of a controller, or of several together.
type grown struct {
	outcomes         [len(outcomes)]uint64
	durations, waits histogram
	calls            [len(calls)]float64
}

func (g *grown) add(other *grown) {
	for i, n := range other.outcomes {
		g.outcomes[i] += n
	}

	g.durations.add(&other.durations)
	g.waits.add(&other.waits)

	for i, n := range other.calls {
		g.calls[i] += n
	}
}

// grownOf returns what has grown of a controller by now.
func grownOf(name string, t *cause.Timings) *grown {
	g := &grown{durations: histogramOf(&t.Durations), waits: histogramOf(&t.Waits)}

	for i, outcome := range outcomes {
		g.outcomes[i] = t.Outcomes[outcome]
	}

	for i := range calls {
		switch shown := calls[i].of.Get(name).(type) {
		case *expvar.Int:
			g.calls[i] = float64(shown.Value())
		case *expvar.Float:
			g.calls[i] = shown.Value()
		}
	}

	return g
}

// collect sends it. What there is nothing of is not sent: the engine may remember no passes, and what one form of controllers
// counts is not there for the other.
func (g *grown) collect(ch chan<- prometheus.Metric, label string) {
	if g.durations.count > 0 {
		ch <- g.durations.metric(passDuration, label)

		for i, n := range g.outcomes {
			ch <- counter(passes, float64(n), label, outcomes[i].String())
		}
	}

	if g.waits.count > 0 {
		ch <- g.waits.metric(queueWait, label)
	}

	for i, n := range g.calls {
		if n > 0 {
			ch <- counter(calls[i].desc, n, label)
		}
	}
}

// level is what goes up and down of a controller, or of several together.
type level struct {
	queue                                       bool
	states                                      map[api.State]int
	running                                     uint64
	ready, delayed, processing, failing, damped int
	oldest                                      float64
}

func levelOf(c *runtime.ControllerHealth, t *cause.Timings) *level {
	return &level{
		queue: c.Queue, states: map[api.State]int{answer.StateOf(c): 1}, running: t.Outcomes[cause.Running],
		ready: c.Ready, delayed: c.Delayed, processing: c.Processing, failing: c.Failing, damped: c.Damped,
		oldest: c.OldestWait.Seconds(),
	}
}

func (l *level) add(other *level) {
	for state, n := range other.states {
		l.states[state] += n
	}

	l.queue = l.queue || other.queue
	l.running += other.running
	l.ready += other.ready
	l.delayed += other.delayed
	l.processing += other.processing
	l.failing += other.failing
	l.damped += other.damped
	l.oldest = max(l.oldest, other.oldest)
}

func (l *level) collect(ch chan<- prometheus.Metric, label string) {
	for state, n := range l.states {
		ch <- gauge(controllerState, float64(n), label, string(state))
	}

	ch <- gauge(passesRunning, float64(l.running), label)
	ch <- gauge(oldestWait, l.oldest, label)

	if l.queue {
		ch <- gauge(items, float64(l.ready), label, "ready")
		ch <- gauge(items, float64(l.delayed), label, "delayed")
		ch <- gauge(items, float64(l.processing), label, "processing")
		ch <- gauge(failingItems, float64(l.failing), label)
		ch <- gauge(dampedItems, float64(l.damped), label)
	}
}
