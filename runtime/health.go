package runtime

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// Health is what the engine knows of itself at one moment, for hosts to show and to decide on.
type Health struct {
	// Running tells whether Run has been called and has not ended.
	Running bool
	// StuckAfter is how long a pass may run, or work may wait, before its controller counts as stuck: see Config.StuckAfter.
	StuckAfter time.Duration
	// Kinds are the watched kinds, in order.
	Kinds []KindHealth
	// Controllers are the registered controllers, in order of registration.
	Controllers []ControllerHealth
	// Rivalries are the resources that several controllers keep rewriting, in order.
	Rivalries []rivalry.Rivalry
}

// KindHealth is the watch of one kind.
type KindHealth struct {
	reduced.Kind

	// Open tells whether the watch is open, Synced whether its first contents have come.
	Open, Synced bool
	// Cached tells whether the kind is read through the cache, and Waiting who waits for its first contents.
	Cached  bool
	Waiting []string
	// Known counts the resources that the engine keeps track of.
	Known int
	// Err is why the watch is not open, after Attempt tries; NextTry is when the next one is.
	Err     error
	Attempt int
	NextTry time.Time
}

// ControllerHealth is one controller.
type ControllerHealth struct {
	adapter.Status

	// Name is the controller's name, and Queue whether it is a queue controller.
	Name  string
	Queue bool
	// Stuck tells that a pass has run, or a wakeup or an item has waited, for longer than Config.StuckAfter. Of a controller that
	// is paused only the pass counts in which it was.
	Stuck bool
	// Passes is how many passes the controller has begun, 0 where none are remembered: see Config.Passes.
	Passes uint64
}

// Fails tells whether the controller, or an item of it, has failed since it last succeeded.
func (c *ControllerHealth) Fails() bool {
	return c.Phase == adapter.BackingOff || c.Failing > 0
}

// Health returns what is going on. Its cost is linear in controllers and kinds; it waits for neither.
func (r *Runtime) Health() Health {
	r.mu.Lock()
	h := Health{Running: r.phase == running, StuckAfter: r.cfg.StuckAfter}
	r.mu.Unlock()

	for _, w := range r.watches.all() {
		h.Kinds = append(h.Kinds, w.health())
	}

	now := r.cfg.Clock.Now()

	for _, node := range r.db.Nodes() {
		h.Controllers = append(h.Controllers, r.health(node.Target(), now))
	}

	h.Rivalries = r.rivals.Rivalries()

	return h
}

func (r *Runtime) health(e *entry, now time.Time) ControllerHealth {
	c := ControllerHealth{Status: e.unit().Status(), Name: e.name(), Queue: e.queue != nil, Passes: e.trace.Count()}
	c.Stuck = c.stuckFor(now) >= r.cfg.StuckAfter

	return c
}

// stuckFor is for how long there was no progress that could be told from outside; what is more than a while means to be stuck.
func (c *ControllerHealth) stuckFor(now time.Time) time.Duration {
	var waits, runs time.Duration

	if !c.Paused {
		waits = c.OldestWait
	}

	if !c.BusySince.IsZero() {
		runs = now.Sub(c.BusySince)
	}

	return max(waits, runs)
}

// doing says what a stuck controller does.
func (c *ControllerHealth) doing() string {
	switch {
	case c.Doing != "":
		return c.Doing
	case c.Queue:
		return "nothing, although items wait"
	default:
		return "a pass, or something else than taking its wakeup"
	}
}

func (w *watch) health() KindHealth {
	w.mu.Lock()
	defer w.mu.Unlock()

	h := KindHealth{
		Kind: w.kind, Open: w.open, Synced: w.synced, Waiting: w.set.waiting(w.kind),
		Err: w.err, Attempt: w.attempt, NextTry: w.next,
	}

	if w.table != nil {
		h.Cached, h.Known = w.table.cached != nil, w.table.len()
	}

	return h
}

// Problems returns a sentence for each thing that keeps the engine from being healthy: that it does not run, kinds that
// are not synced, controllers that fail, keep waking themselves, or are stuck, and resources that several of them keep
// rewriting. It is empty when all is well.
func (h Health) Problems() []string {
	var problems []string

	if !h.Running {
		problems = append(problems, "the engine does not run")
	}

	for i := range h.Kinds {
		if p := h.Kinds[i].problem(); p != "" {
			problems = append(problems, p)
		}
	}

	for i := range h.Controllers {
		c := &h.Controllers[i]

		if !h.Running && (c.Phase == adapter.Running || c.Phase == adapter.BackingOff) {
			problems = append(problems, fmt.Sprintf("controller %q has not ended with the engine: %s has not come back", c.Name, cmp.Or(c.Doing, "Run")))
		} else if p := c.Problem(); p != "" {
			problems = append(problems, p)
		}
	}

	for i := range h.Rivalries {
		rivals := &h.Rivalries[i]
		problems = append(problems, fmt.Sprintf("controllers %s keep rewriting %s, each undoing what another has written: %s",
			strings.Join(rivals.Controllers, ", "), rivals.Resource, strings.Join(rivals.Fields, ", ")))
	}

	return problems
}

func (k *KindHealth) problem() string {
	var waiting string

	if len(k.Waiting) > 0 {
		waiting = ", waited for by " + strings.Join(k.Waiting, ", ")
	}

	switch {
	case k.Err != nil:
		return fmt.Sprintf("%s is not watched: %s (try %d)%s", k.Kind, oneLine(k.Err), k.Attempt, waiting)
	case !k.Synced:
		return fmt.Sprintf("%s is not synced%s", k.Kind, waiting)
	default:
		return ""
	}
}

// Problem says in a sentence what is wrong with the controller, and nothing where all is well.
func (c *ControllerHealth) Problem() string {
	switch {
	case c.Phase == adapter.BackingOff && c.Queue:
		return fmt.Sprintf("run hook of controller %q is backing off after failure %d: %s", c.Name, c.Attempt, oneLine(c.LastError))
	case c.Phase == adapter.BackingOff:
		return fmt.Sprintf("controller %q is backing off after failure %d: %s", c.Name, c.Attempt, oneLine(c.LastError))
	case c.Failing == 1:
		return fmt.Sprintf("controller %q has a failing item, the last error was: %s", c.Name, oneLine(c.LastError))
	case c.Failing > 0:
		return fmt.Sprintf("controller %q has %d failing items, the last error was: %s", c.Name, c.Failing, oneLine(c.LastError))
	case c.Damped > 0:
		return fmt.Sprintf("controller %q keeps waking itself for %d items by what it writes, most of all for: %s", c.Name, c.Damped, c.DampedItem)
	case c.Stuck && c.Doing != "":
		return fmt.Sprintf("controller %q is stuck: %s has not come back", c.Name, c.Doing)
	case c.Stuck:
		return fmt.Sprintf("controller %q is stuck: it does not take its work", c.Name)
	default:
		return ""
	}
}

// oneLine renders an error, which may be several joined ones, without line breaks.
func oneLine(err error) string { return strings.ReplaceAll(fmt.Sprint(err), "\n", "; ") }
