package runtime

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

const (
	// keepPending is how many changes of a kind may be pending for their memory to be kept for the next ones, and keepBundles for
	// how many kinds it is.
	keepPending = 4096
	keepBundles = 64
	// fewDependents is up to how many a watch delivers a change to itself, if nobody else is delivering.
	fewDependents = 32
)

// intake is what lies between the two stages of the pipeline: the set of changed resources that nobody has been told of
// yet, kind by kind, in the order in which kinds and resources first became dirty. Watches put changes into it, the delivery
// takes all of it at once.
//
// A watch that finds the pipeline idle delivers a single change for a few dependents itself, which saves an idle system a
// change of goroutines on every wakeup. Any more would keep it from reading what the state has next.
type intake struct {
	router *dependency.Router[*entry]

	// routing is held by whoever delivers; it guards batch, what was delivered last, the changes in it, and the divider.
	routing sync.Mutex
	batch   []*bundle
	changes [][]reduced.Metadata
	// divides tells that there may be changes that are not for all at the same time, which are the divider's to deliver. Who
	// delivers looks at nothing else of it. It is set at any time, and cleared by whoever delivers.
	divides atomic.Bool

	// mu guards the fields below. Pending are the changes of each kind that has some, of is where they are, and count is how
	// many there are, which may be read without the lock. Spare are bundles to be used again.
	mu      sync.Mutex
	pending []*bundle
	of      map[reduced.Kind]*bundle
	count   atomic.Int64
	spare   []*bundle

	// dirty holds one signal while pending is not empty and was not taken yet. Nobody waits to send on it.
	dirty chan struct{}

	divider divider
	// told is why the classic controller that was woken last was, and when; it belongs to whoever delivers.
	told told
}

// bundle is the pending changes of one kind, and where the one of each resource is. A controller gets the changes of a kind together,
// which costs it less than one by one: so they are kept together, whatever comes in between.
type bundle struct {
	kind    reduced.Kind
	changes []reduced.Metadata
	index   map[resource.ID]int
}

// told is the causes that changes are, for the many controllers that are woken by the same ones. Explains is that somebody
// wants to know.
type told struct {
	explains bool
	// at is when controllers were told of what is delivered in the run of the router, as now counts. One reading of the clock is for all.
	at      time.Duration
	run     uint64
	now     func() time.Duration
	because *cause.Set
	// first, len, kind and turn say of which changes, in which turn of the router: in another one there may be others in the same
	// place.
	first *reduced.Metadata
	len   int
	kind  controller.InputKind
	turn  dependency.Turn
}

// explain has it tell classic controllers why they are woken.
func (in *intake) explain() {
	in.told.explains = true
	in.router.VisitAlways()
}

// because returns the causes that changes are, where somebody wants to know. It is for whoever delivers them.
func (in *intake) because(changes []reduced.Metadata, kind controller.InputKind) *cause.Set {
	t := &in.told
	if t.first == &changes[0] && t.len == len(changes) && t.kind == kind && t.turn == in.router.Turn() {
		return t.because
	}

	return in.explained(changes, kind)
}

// explained is because for changes that are not those of last time.
func (in *intake) explained(changes []reduced.Metadata, kind controller.InputKind) *cause.Set {
	t := &in.told

	t.first, t.len, t.kind, t.turn = &changes[0], len(changes), kind, in.router.Turn()
	t.because = cause.SetOf(changes, kind, in.at())

	return t.because
}

// at returns when what is delivered is told of.
func (in *intake) at() time.Duration {
	if t, run := &in.told, in.router.Turn().Runs; t.run != run {
		t.at, t.run = t.now(), run
	}

	return in.told.at
}

// forget lets go of the changes that were delivered.
func (in *intake) forget() {
	in.told.because, in.told.first, in.told.run = nil, nil, 0
}

func newIntake(db *dependency.Database[*entry], now func() time.Duration) *intake {
	return &intake{
		router: dependency.NewRouter(db, (*entry).deliver), of: map[reduced.Kind]*bundle{}, dirty: make(chan struct{}, 1),
		told: told{now: now},
	}
}

// put adds changes of one kind, which go that way, merging those of one resource.
func (in *intake) put(way *dependency.Way[*entry], changes []reduced.Metadata) {
	if len(changes) == 0 {
		return
	}

	if len(changes) == 1 && in.deliverNow(way, changes) {
		return
	}

	in.add(changes)
	in.wake()
}

// wake has the delivery look what there is to do.
func (in *intake) wake() {
	select {
	case in.dirty <- struct{}{}:
	default:
	}
}

// divide has the delivery look what is to be held back, and for how long.
func (in *intake) divide() {
	in.divides.Store(true)
	in.wake()
}

// putThen delivers changes, with all that are pending, and calls then before anything else is delivered.
func (in *intake) putThen(changes []reduced.Metadata, then func()) {
	in.routing.Lock()
	defer in.routing.Unlock()

	in.add(changes)
	in.deliver()
	then()
}

// deliverNow delivers a change past the set, if that is empty and nobody is delivering.
func (in *intake) deliverNow(way *dependency.Way[*entry], change []reduced.Metadata) bool {
	if !in.routing.TryLock() {
		return false
	}
	defer in.routing.Unlock()

	if in.divides.Load() || in.len() > 0 || !in.router.RouteFew(way, change, fewDependents) {
		return false
	}

	in.forget()

	return true
}

// add adds changes of one kind.
func (in *intake) add(changes []reduced.Metadata) {
	if len(changes) == 0 {
		return
	}

	in.mu.Lock()
	defer in.mu.Unlock()

	b := in.bundleLocked(changes[0].Key().Kind)
	before := len(b.changes)

	for i := range changes {
		id := changes[i].ID()

		if at, ok := b.index[id]; ok {
			b.changes[at] = reduced.Merge(b.changes[at], changes[i])

			continue
		}

		b.index[id] = len(b.changes)
		b.changes = append(b.changes, changes[i])
	}

	in.count.Add(int64(len(b.changes) - before))
}

// bundleLocked returns where the pending changes of a kind are.
func (in *intake) bundleLocked(kind reduced.Kind) *bundle {
	if b := in.of[kind]; b != nil {
		return b
	}

	var b *bundle

	if last := len(in.spare) - 1; last >= 0 {
		b, in.spare = in.spare[last], in.spare[:last]
	} else {
		b = &bundle{index: map[resource.ID]int{}}
	}

	b.kind = kind
	in.of[kind] = b
	in.pending = append(in.pending, b)

	return b
}

// take empties the set, and returns what was in it. The caller has done with what he gives.
func (in *intake) take(done []*bundle) []*bundle {
	kept := 0

	for _, b := range done {
		// What was large is not kept: neither slices nor maps ever give memory back.
		if kept == keepBundles || cap(b.changes) > keepPending {
			continue
		}

		clear(b.changes)
		clear(b.index)
		b.kind, b.changes = reduced.Kind{}, b.changes[:0]
		done[kept] = b
		kept++
	}

	in.mu.Lock()
	defer in.mu.Unlock()

	in.spare = append(in.spare, done[:min(kept, keepBundles-len(in.spare))]...)

	taken := in.pending
	clear(done)
	in.pending = done[:0]
	in.count.Store(0)

	if len(taken) > keepBundles {
		in.of = map[reduced.Kind]*bundle{} // a map that was large stays so
	} else {
		clear(in.of)
	}

	return taken
}

// len returns the number of pending changes.
func (in *intake) len() int { return int(in.count.Load()) }

// deliver hands over what is pending. Routing is held by the caller.
func (in *intake) deliver() {
	in.batch = in.take(in.batch)

	for _, b := range in.batch {
		in.changes = append(in.changes, b.changes)
	}

	if in.divides.Load() {
		in.divider.route(in.router, in.changes)
	} else {
		in.router.Route(in.changes...)
	}

	clear(in.changes)
	in.changes = in.changes[:0]
	in.forget()
}

// release delivers what was held back for long enough, and returns the rivalries that are over. Routing is held by the caller.
func (in *intake) release() (over []rivalry.Rivalry) {
	if !in.divides.Load() {
		return nil
	}

	over = in.divider.release()
	in.forget()

	in.divides.Store(false)

	if !in.divider.finder.None() {
		in.divides.Store(true) // another one may have begun meanwhile
	}

	return over
}

// run is the second stage: it delivers until the context ends. Over is called with rivalries that have come to an end.
func (in *intake) run(ctx context.Context, clock clockwork.Clock, over func([]rivalry.Rivalry)) {
	delayed := delayed{clock: clock}
	defer delayed.stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-in.dirty:
		case <-delayed.due:
			delayed.due = nil
		}

		in.routing.Lock()
		in.deliver()
		ended := in.release()
		in.routing.Unlock()

		delayed.settle(in.divider.finder)

		if len(ended) > 0 {
			over(ended)
		}
	}
}
