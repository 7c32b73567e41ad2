package controllertest

import (
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/adapter"
)

// debts are the passes that the engine owes to a queue controller: for each change of a primary input that it was told of,
// one has to wait for its turn at once, unless all workers are busy, and for nothing else. So a wakeup that is late is found
// as well as one that is lost, and one that is not needed.
type debts struct {
	workers int
	inputs  []controller.Input

	// mu guards the fields below.
	mu sync.Mutex
	// owed are the resources for which a pass is to begin, with why.
	owed map[string]debt
	busy map[string]bool
	// fill counts how often everything was asked for, and filled up to which of them each resource has had its pass.
	fill   int
	filled map[string]int
	// again are the resources whose last pass has failed, or has asked to be run again; mapped counts for each how often
	// it was mapped to: the engine queues it some time later, when all former labels are mapped too.
	again  map[string]bool
	mapped map[string]int
}

type debt struct {
	why string
	// soon tells that nothing allows the engine to wait with it.
	soon bool
}

func newDebts(settings controller.QSettings) *debts {
	return &debts{
		workers: int(settings.Concurrency.ValueOr(1)), inputs: settings.Inputs, fill: 1,
		owed: map[string]debt{}, busy: map[string]bool{}, filled: map[string]int{}, again: map[string]bool{}, mapped: map[string]int{},
	}
}

// primary tells whether the resource is a primary input.
func (d *debts) primary(ptr resource.Pointer) bool {
	return slices.ContainsFunc(d.inputs, func(in controller.Input) bool {
		return in.Kind == controller.InputQPrimary && in.Namespace == ptr.Namespace() && in.Type == ptr.Type() &&
			in.ID.ValueOr(ptr.ID()) == ptr.ID()
	})
}

// owe notes that a pass is to begin, soon or some time.
func (d *debts) owe(ptr resource.Pointer, why string, soon bool) {
	if !d.primary(ptr) {
		return
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	d.owed[place(ptr)] = debt{why, soon || d.owed[place(ptr)].soon}
}

// mapsTo notes that a pass is to begin for what a resource was mapped to.
func (d *debts) mapsTo(ptr resource.Pointer) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.mapped[place(ptr)]++
}

// everything notes that a pass is to begin for all that is there.
func (d *debts) everything() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.fill++
}

// begins notes that a pass waits for its turn; it tells whether there is a reason for it.
func (d *debts) begins(ptr resource.Pointer) (needed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	key := place(ptr)
	_, needed = d.owed[key]
	needed = needed || d.again[key] || d.filled[key] < d.fill

	if !needed && d.mapped[key] > 0 {
		needed = true
		d.mapped[key]--
	}

	delete(d.owed, key)
	delete(d.again, key)
	d.busy[key], d.filled[key] = true, d.fill

	return needed
}

// maps notes that a mapping waits for its turn, and returns what notes its end.
func (d *debts) maps(md resource.Pointer) func() {
	key := "map " + place(md)

	d.mu.Lock()
	defer d.mu.Unlock()

	d.busy[key] = true

	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()

		delete(d.busy, key)
	}
}

func (d *debts) ends(ptr resource.Pointer, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.busy, place(ptr))
	d.again[place(ptr)] = again
}

// passes counts the passes that have begun and not ended.
func (d *debts) passes() int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return len(d.busy)
}

// overdue returns why a pass should have begun that has not, although a worker is free. It is asked while nothing moves.
func (d *debts) overdue() string {
	d.mu.Lock()
	defer d.mu.Unlock()

	if len(d.busy) >= d.workers {
		return ""
	}

	for key, debt := range d.owed {
		if debt.soon && !d.busy[key] {
			return debt.why
		}
	}

	return ""
}

// listed notes that a kind is listed, or watched from now on: the engine can not know what was missed before, and may run
// everything that depends on it.
func (l *life) listed(kind resource.Kind) {
	for _, q := range l.queues {
		for _, in := range q.debts.inputs {
			if in.Namespace == kind.Namespace() && in.Type == kind.Type() {
				q.debts.everything()

				break
			}
		}
	}
}

// overdue returns what the engine has not done, or nothing.
func (l *life) overdue() string {
	if l.ending.Load() {
		return ""
	}

	for name, q := range l.queues {
		why := q.debts.overdue()
		if why == "" {
			continue
		}

		for _, ctrl := range l.engine.Health().Controllers {
			if ctrl.Name == name && ctrl.Phase == adapter.Running && !ctrl.Paused {
				return "the engine was told: " + why + ". But controller \"" + name + "\" has no pass for it, although a worker is free"
			}
		}
	}

	return ""
}
