package dependency

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// lane is a way in which a change reaches a controller; each way is taken once, however many of the controller's inputs
// match it.
type lane uint8

const (
	laneWake lane = 1 << iota
	lanePrimary
	laneMapped
)

func laneOf(kind controller.InputKind) lane {
	switch kind {
	case controller.InputQPrimary:
		return lanePrimary
	case controller.InputQMapped, controller.InputQMappedDestroyReady:
		return laneMapped
	default:
		return laneWake
	}
}

// mostWalks is how often a change is walked with, beside changes of the inputs on its kind, before those have to wait.
const mostWalks = 4

// Router hands changes to the targets that depend on them. It does not allocate, and takes no lock but where inputs keep
// changing beside it. One goroutine at a time may route through a database, whichever of its routers it uses.
type Router[T any] struct {
	db    *Database[T]
	visit func(target T, changes []reduced.Metadata, kind controller.InputKind)

	// every has classic controllers visited with all changes that concern them.
	every bool
	// ready is the buffer for the changes of a run that destroy-ready inputs are for.
	ready []reduced.Metadata
}

// NewRouter returns a router of the database. It calls visit for the dependents of changes, with the kind of the input
// that matched and one or more changes of one kind of resource, in order: each change once for primary inputs, and once
// for mapped ones. A classic controller is visited once for a whole batch, with the first changes that concern it: a
// wakeup says nothing more than "look". Inputs by id come first, then weak and strong ones of the whole kind, then the
// others; among each the one that was declared first. The changes passed are only lent for the call.
func NewRouter[T any](db *Database[T], visit func(target T, changes []reduced.Metadata, kind controller.InputKind)) *Router[T] {
	return &Router[T]{db: db, visit: visit}
}

// VisitAlways has classic controllers visited like all others, with every change that concerns them, and not once for a
// batch. It is for whoever wants to know why they were woken, and is called before anything is routed.
func (r *Router[T]) VisitAlways() { r.every = true }

// Turn tells apart what is routed one after the other, so that others may lie in the same place: Runs are those of changes of one kind,
// and Singles are single changes.
type Turn struct{ Runs, Singles uint64 }

// Turn returns that of the changes that are routed, for whoever is visited.
func (r *Router[T]) Turn() Turn { return Turn{r.db.routed.runs, r.db.routed.singles} }

// Route hands a batch of changes, each of another resource, to their dependents: those of the id, and those of the whole
// kind. The batch may be in several parts. It costs least where changes of one kind stand together.
//
// A controller that declares an input anew, under another kind of input, by id or as a whole, has the new entry before
// the old one is hidden. A walk may still miss both: the new one where it has passed already, the old one where it
// comes to it. So what is walked beside a change is walked again, and if that happens time after time, changes have to
// wait for the last walk; nobody is handed anything a second time. The targets must not change the database.
func (r *Router[T]) Route(batch ...[]reduced.Metadata) {
	r.db.routed.batches++

	for _, part := range batch {
		r.part(part)
	}

	r.forget()
}

func (r *Router[T]) part(part []reduced.Metadata) {
	for len(part) > 0 {
		run := 1
		for run < len(part) && part[run].Key().Kind == part[0].Key().Kind {
			run++
		}

		if index := r.db.index(part[0].Key().Kind); index != nil {
			r.run(index, part[:run])
		}

		part = part[run:]
	}
}

// Way is where the changes of one kind go, for whoever routes such changes again and again: it is looked up once, and again
// only after nobody has depended on the kind for a while. The zero value was not looked up yet. It is for one kind and for
// one goroutine.
type Way[T any] struct{ index *kindIndex[T] }

// RouteFew does the same for changes of one kind, if there are no more than so many inputs on the kind as a whole; else it
// does nothing and returns false.
func (r *Router[T]) RouteFew(way *Way[T], run []reduced.Metadata, limit int) bool {
	if way.index == nil || way.index.left.Load() {
		way.index = r.db.index(run[0].Key().Kind)
	}

	index := way.index
	if index == nil {
		return true
	}

	if len(index.wakes.load())+len(index.whole.load()) > limit {
		return false
	}

	r.db.routed.batches++
	r.run(index, run)
	r.forget()

	return true
}

// forget lets go of the changes that were routed.
func (r *Router[T]) forget() {
	if cap(r.ready) > 0 {
		clear(r.ready[:cap(r.ready)])
		r.ready = r.ready[:0]
	}
}

// run routes changes of one kind: as a whole while there are no inputs by id, which is the rule, else one by one.
func (r *Router[T]) run(index *kindIndex[T], run []reduced.Metadata) {
	r.db.routed.runs++

	for range mostWalks {
		if index.byID.Load() > 0 {
			r.each(index, run)

			return
		}

		if r.walk(index, run) {
			return
		}
	}

	r.db.mu.Lock()
	defer r.db.mu.Unlock()

	if index.byID.Load() > 0 {
		r.each(index, run) // of which no walk is disturbed, so that none takes the lock again
	} else {
		r.walk(index, run)
	}
}

// walk routes changes of one kind to who has inputs on it as a whole, and tells whether no input has changed beside it.
func (r *Router[T]) walk(index *kindIndex[T], run []reduced.Metadata) bool {
	changes := index.changes.Load()

	r.wake(index, run, changes)
	r.hand(run, index.whole.load(), false)

	return index.changes.Load() == changes
}

// each routes changes of one kind one by one.
func (r *Router[T]) each(index *kindIndex[T], run []reduced.Metadata) {
	if r.every {
		r.wakeAll(index, run) // first, as whoever is visited with all of the run is not visited with a part of it
	}

	for i := range run {
		r.one(index, run[i:i+1])
	}
}

// wakeAll visits the weak and strong inputs on the whole kind with a run that is otherwise routed one by one.
func (r *Router[T]) wakeAll(index *kindIndex[T], run []reduced.Metadata) {
	for range mostWalks {
		if r.walkWakes(index, run) {
			return
		}
	}

	r.db.mu.Lock()
	defer r.db.mu.Unlock()

	r.walkWakes(index, run)
}

// walkWakes is one walk of wakeAll, and tells whether no input has changed beside it.
func (r *Router[T]) walkWakes(index *kindIndex[T], run []reduced.Metadata) bool {
	changes := index.changes.Load()

	r.wake(index, run, changes)

	return index.changes.Load() == changes
}

func (r *Router[T]) one(index *kindIndex[T], change []reduced.Metadata) {
	r.db.routed.singles++

	for range mostWalks {
		if r.walkOne(index, change) {
			return
		}
	}

	r.db.mu.Lock()
	defer r.db.mu.Unlock()

	r.walkOne(index, change)
}

// walkOne routes a single change, and tells whether no input has changed beside it.
func (r *Router[T]) walkOne(index *kindIndex[T], change []reduced.Metadata) bool {
	changes := index.changes.Load()

	if ids, ok := index.ids.Load(change[0].ID()); ok {
		r.hand(change, ids.(*list[T]).load(), true)
	}

	if !r.every {
		r.wake(index, change, changes)
	}

	r.hand(change, index.whole.load(), true)

	return index.changes.Load() == changes
}

// wake visits the weak and strong inputs on the whole kind, unless that was done in this batch already.
func (r *Router[T]) wake(index *kindIndex[T], changes []reduced.Metadata, at uint64) {
	if !r.every && index.woken == r.db.routed.batches && index.wokenAt == at {
		return
	}

	index.woken, index.wokenAt = r.db.routed.batches, at

	r.hand(changes, index.wakes.load(), false)
}

// hand visits dependents that were not visited yet in their lane: with this change, where it is a single one, or with the
// run that it is of.
func (r *Router[T]) hand(changes []reduced.Metadata, dependents []*dependent[T], single bool) {
	var ready []reduced.Metadata

	looked := false

	for _, d := range dependents {
		if d.gone.Load() {
			continue
		}

		kind, concerned := d.input.Kind, changes

		if kind == controller.InputDestroyReady || kind == controller.InputQMappedDestroyReady {
			if !looked {
				ready, looked = r.destroyReady(changes), true
			}

			if concerned = ready; len(concerned) == 0 {
				continue
			}
		}

		if r.mark(d.node, laneOf(kind), single) {
			r.visit(d.node.target, concerned, kind)
		}
	}
}

// mark notes a visit, and tells whether it is the first one.
func (r *Router[T]) mark(n *Node[T], l lane, single bool) bool {
	routed := &r.db.routed

	if l == laneWake && !r.every {
		first := n.woken != routed.batches
		n.woken = routed.batches

		return first
	}

	if n.run != routed.runs {
		n.run, n.runLanes = routed.runs, 0
	}

	if n.runLanes&l != 0 {
		return false
	}

	if !single {
		n.runLanes |= l

		return true
	}

	if n.single != routed.singles {
		n.single, n.lanes = routed.singles, 0
	}

	first := n.lanes&l == 0
	n.lanes |= l

	return first
}

// destroyReady returns those of the changes that destroy-ready inputs are for.
func (r *Router[T]) destroyReady(changes []reduced.Metadata) []reduced.Metadata {
	r.ready = r.ready[:0]

	for i := range changes {
		if changes[i].DestroyReady() {
			r.ready = append(r.ready, changes[i])
		}
	}

	return r.ready
}

// Targets returns the targets with any input on the kind, each once, in order of registration. It is for when changes of
// a kind may have been missed and nobody knows which; it may be called from any goroutine.
func (db *Database[T]) Targets(kind reduced.Kind) []T {
	return db.targets(kind, func(controller.InputKind) bool { return true })
}

// Primaries returns the targets with a primary input on the kind, in the same way.
func (db *Database[T]) Primaries(kind reduced.Kind) []T {
	return db.targets(kind, func(kind controller.InputKind) bool { return kind == controller.InputQPrimary })
}

func (db *Database[T]) targets(kind reduced.Kind, wanted func(controller.InputKind) bool) []T {
	db.mu.Lock()
	defer db.mu.Unlock()

	index := db.index(kind)
	if index == nil {
		return nil
	}

	var nodes []*Node[T]

	collect := func(l *list[T]) {
		for _, d := range l.load() {
			if !d.gone.Load() && wanted(d.input.Kind) {
				nodes = append(nodes, d.node)
			}
		}
	}

	collect(&index.wakes)
	collect(&index.whole)
	index.ids.Range(func(_, ids any) bool {
		collect(ids.(*list[T]))

		return true
	})

	slices.SortFunc(nodes, inOrder)
	nodes = slices.Compact(nodes)

	targets := make([]T, len(nodes))
	for i, n := range nodes {
		targets[i] = n.target
	}

	return targets
}
