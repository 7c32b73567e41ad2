package dependency

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// lane is a way in which a change reaches a controller; each way is taken once per change, however many of the
// controller's inputs match it.
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

// Router hands changes to the targets that depend on them. It takes no lock and does not allocate. One goroutine at a
// time may route through a database, whichever of its routers it uses.
type Router[T any] struct {
	db    *Database[T]
	visit func(target T, md *reduced.Metadata, kind controller.InputKind)
}

// NewRouter returns a router of the database. It calls visit for each dependent of a change, with the kind of the input
// that matched: once for wakeups of classic controllers, once for primary inputs, once for mapped ones. Inputs by id
// come before those of the whole kind, and among either the one that was declared first comes first. The metadata
// passed is only lent for the call.
func NewRouter[T any](db *Database[T], visit func(target T, md *reduced.Metadata, kind controller.InputKind)) *Router[T] {
	return &Router[T]{db: db, visit: visit}
}

// Route hands one change to its dependents: those of the id, and those of the whole kind.
//
// A controller that declares an input anew, under another kind of input, by id or as a whole, has the new entry before
// the old one is hidden. A walk may still miss both: the new one where it has passed already, the old one where it
// comes to it. So what is walked beside a removal is walked again; nobody is handed the change a second time.
func (r *Router[T]) Route(md *reduced.Metadata) {
	index := r.db.index(md.Key().Kind)
	if index == nil {
		return
	}

	r.db.routed++

	for {
		removals := index.removals.Load()

		if ids, ok := index.ids.Load(md.ID()); ok {
			r.hand(md, ids.(*list[T]).load())
		}

		r.hand(md, index.whole.load())

		if index.removals.Load() == removals {
			return
		}
	}
}

func (r *Router[T]) hand(md *reduced.Metadata, dependents []*dependent[T]) {
	for _, d := range dependents {
		if d.gone.Load() {
			continue
		}

		kind := d.input.Kind
		if (kind == controller.InputDestroyReady || kind == controller.InputQMappedDestroyReady) && !md.DestroyReady() {
			continue
		}

		node, l := d.node, laneOf(kind)

		if node.routed != r.db.routed {
			node.routed, node.lanes = r.db.routed, 0
		}

		if node.lanes&l != 0 {
			continue
		}

		node.lanes |= l

		r.visit(node.target, md, kind)
	}
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
