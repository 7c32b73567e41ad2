package dependency

import (
	"cmp"
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

// Router hands changes to the targets that depend on them. It takes no lock and does not allocate. A database has one
// router, and one goroutine at a time may use it.
type Router[T any] struct {
	db    *Database[T]
	visit func(target T, md *reduced.Metadata, kind controller.InputKind)
	seq   uint64
}

// NewRouter returns the router of the database. It calls visit for each dependent of a change, in order of
// registration among those of one input form, with the kind of the input that matched: once for wakeups of classic
// controllers, once for primary inputs, once for mapped ones. The metadata passed is only lent for the call.
func NewRouter[T any](db *Database[T], visit func(target T, md *reduced.Metadata, kind controller.InputKind)) *Router[T] {
	return &Router[T]{db: db, visit: visit}
}

// Route hands one change to its dependents: those of the id, and those of the whole kind.
func (r *Router[T]) Route(md *reduced.Metadata) {
	index := r.db.index(md.Key().Kind)
	if index == nil {
		return
	}

	r.seq++

	if ids, ok := index.ids.Load(md.ID()); ok {
		r.hand(md, ids.(*list[T]).load())
	}

	r.hand(md, index.whole.load())
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

		if node.routed != r.seq {
			node.routed, node.lanes = r.seq, 0
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

	slices.SortFunc(nodes, func(a, b *Node[T]) int { return cmp.Compare(a.order, b.order) })
	nodes = slices.Compact(nodes)

	targets := make([]T, len(nodes))
	for i, n := range nodes {
		targets[i] = n.target
	}

	return targets
}
