package runtime

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

const (
	// keepPending is the size of a pending set up to which its memory is kept for the next one.
	keepPending = 4096
	// fewDependents is up to how many a watch delivers a change to itself, if nobody else is delivering.
	fewDependents = 32
)

// intake is what lies between the two stages of the pipeline: the set of changed resources that nobody has been told of
// yet, in the order in which they first became dirty. Watches put changes into it, the delivery takes all of it at once.
//
// A watch that finds the pipeline idle delivers a single change for a few dependents itself, which saves an idle system a
// change of goroutines on every wakeup. Any more would keep it from reading what the state has next.
type intake struct {
	router *dependency.Router[*entry]

	// routing is held by whoever delivers; it guards batch, the buffer that was delivered last, and the divider.
	routing sync.Mutex
	batch   []reduced.Metadata
	// divides tells that there may be changes that are not for all at the same time, which are the divider's to deliver. Who
	// delivers looks at nothing else of it. It is set at any time, and cleared by whoever delivers.
	divides atomic.Bool

	// mu guards pending and index, which hold the same keys.
	mu      sync.Mutex
	pending []reduced.Metadata
	index   map[reduced.Key]int

	// dirty holds one signal while pending is not empty and was not taken yet. Nobody waits to send on it.
	dirty chan struct{}

	divider divider
	// told is why the classic controller that was woken last was; it belongs to whoever delivers.
	told told
}

// told is the causes that changes are, for the many controllers that are woken by the same ones. Explains is that somebody
// wants to know.
type told struct {
	explains bool
	changes  []reduced.Metadata
	kind     controller.InputKind
	because  *cause.Set
	// first and version are of the first change: what lies where others have lain may be something else.
	first   reduced.Key
	version uint64
}

// are tells whether the changes are those of last time.
func (t *told) are(changes []reduced.Metadata, kind controller.InputKind) bool {
	return t.because != nil && len(t.changes) == len(changes) && &t.changes[0] == &changes[0] && t.kind == kind &&
		t.version == changes[0].Facts.Version() && t.first == changes[0].Key()
}

// explain has it tell classic controllers why they are woken.
func (in *intake) explain() {
	in.told.explains = true
	in.router.VisitAlways()
}

// because returns the causes that changes are, or nil if nobody wants to know. It is for whoever delivers them.
func (in *intake) because(changes []reduced.Metadata, kind controller.InputKind) *cause.Set {
	t := &in.told
	if !t.explains {
		return nil
	}

	if t.are(changes, kind) {
		return t.because
	}

	t.changes, t.kind, t.because = changes, kind, cause.SetOf(changes, kind)
	t.first, t.version = changes[0].Key(), changes[0].Facts.Version()

	return t.because
}

// forget lets go of the changes that were delivered.
func (in *intake) forget() {
	in.told.because, in.told.changes, in.told.first = nil, nil, reduced.Key{}
}

func newIntake(db *dependency.Database[*entry]) *intake {
	return &intake{
		router: dependency.NewRouter(db, (*entry).deliver), index: map[reduced.Key]int{}, dirty: make(chan struct{}, 1),
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

func (in *intake) add(changes []reduced.Metadata) {
	in.mu.Lock()
	defer in.mu.Unlock()

	for i := range changes {
		key := changes[i].Key()

		if at, ok := in.index[key]; ok {
			in.pending[at] = reduced.Merge(in.pending[at], changes[i])

			continue
		}

		in.index[key] = len(in.pending)
		in.pending = append(in.pending, changes[i])
	}
}

// take empties the set into the buffer that the caller has done with, and returns the changes.
func (in *intake) take(done []reduced.Metadata) []reduced.Metadata {
	if cap(done) > keepPending {
		done = nil
	}

	clear(done)

	in.mu.Lock()
	defer in.mu.Unlock()

	taken := in.pending
	in.pending = done[:0]

	if len(taken) > keepPending {
		in.index = map[reduced.Key]int{} // a map that was large never gives its memory back
	} else {
		clear(in.index)
	}

	return taken
}

// len returns the number of pending changes.
func (in *intake) len() int {
	in.mu.Lock()
	defer in.mu.Unlock()

	return len(in.pending)
}

// deliver hands over what is pending. Routing is held by the caller.
func (in *intake) deliver() {
	in.batch = in.take(in.batch)

	if in.divides.Load() {
		in.divider.route(in.router, in.batch)
	} else {
		in.router.Route(in.batch)
	}

	in.forget()
}

// release delivers what was held back for long enough, and returns the rivalries that are over. Routing is held by the caller.
func (in *intake) release() (over []rivalry.Rivalry) {
	if !in.divides.Load() {
		return nil
	}

	over = in.divider.release()

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
