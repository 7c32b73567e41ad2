package dependency

import (
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/internal/index"
	"github.com/switchyard-run/switchyard/reduced"
)

// Form is the kind of controller that declares: it decides which kinds of input it may have.
type Form int

// Forms of controllers.
const (
	// Classic controllers have weak, strong and destroy-ready inputs and may change them while they run.
	Classic Form = iota
	// Queue controllers have primary, mapped and mapped destroy-ready inputs.
	Queue
)

// Database holds the declarations of all controllers. T is what changes are delivered to. All methods are safe for
// concurrent use; routing goes through a [Router].
type Database[T any] struct {
	// mu guards the maps below, every change of the index, and the counters within it.
	mu        sync.Mutex
	nodes     index.Map[*Node[T]] // by name
	exclusive index.Map[*Node[T]] // by type
	shared    map[resource.Type]map[string]struct{}

	// sequence holds the nodes in order of registration, with nil for those that were removed, which are counted.
	sequence []*Node[T]
	removed  int

	// kinds maps reduced.Kind to *kindIndex[T]. It is written under mu and read without.
	kinds sync.Map

	// revision counts the changes of declarations, each once it is in force.
	revision atomic.Uint64

	// routed counts what was routed; owned by whoever routes. It is kept here and not in the router, so that the marks
	// that one router has left on the nodes mean nothing to the next.
	routed struct{ batches, runs, singles uint64 }
}

// NewDatabase returns an empty database.
func NewDatabase[T any]() *Database[T] {
	return &Database[T]{
		shared: map[resource.Type]map[string]struct{}{},
	}
}

// Register records a controller under a name that is unique over both forms. It takes all of the declaration or,
// with a [DeclarationError], nothing. The slices are not kept and not changed.
//
// Accepted is called with the node before the first change is routed to the target; from the moment Register returns,
// all are.
func (db *Database[T]) Register(
	name string, form Form, target T, inputs []controller.Input, outputs []controller.Output, accepted func(*Node[T]),
) (*Node[T], error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	if name == "" {
		return nil, &DeclarationError{Reason: ErrInvalidName, Hint: "return a name that is not empty from Name()"}
	}

	if _, taken := db.nodes.Get(name); taken {
		return nil, &DeclarationError{Reason: ErrNameTaken, Controller: name, Hint: "names are unique over classic and queue controllers; rename one or unregister the other"}
	}

	node := &Node[T]{name: name, target: target}

	if err := db.checkOutputs(node, outputs); err != nil {
		return nil, err
	}

	update, err := db.plan(node, form, inputs)
	if err != nil {
		return nil, err
	}

	if accepted != nil {
		accepted(node)
	}

	node.at = len(db.sequence)
	db.sequence = append(db.sequence, node)
	db.nodes.Put(name, node)

	db.claim(node)
	db.commit(node, update)
	db.revision.Add(1)

	return node, nil
}

// SetInputs replaces the inputs of a registered controller, all of them or, with a [DeclarationError], none. It
// returns the kinds on which an input was added or removed, in order. Changes to inputs that stay are routed without
// a gap, and new inputs are in force before old ones go.
func (db *Database[T]) SetInputs(node *Node[T], form Form, inputs []controller.Input) ([]reduced.Kind, error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	if known, _ := db.nodes.Get(node.name); known != node {
		return nil, &DeclarationError{Reason: ErrUnknownController, Controller: node.name, Hint: "it was unregistered"}
	}

	update, err := db.plan(node, form, inputs)
	if err != nil {
		return nil, err
	}

	db.commit(node, update)

	kinds := update.kinds()
	if len(kinds) > 0 {
		db.revision.Add(1)
	}

	return kinds, nil
}

// Remove forgets a controller: inputs, outputs and name. It returns the kinds that the inputs were on.
func (db *Database[T]) Remove(node *Node[T]) []reduced.Kind {
	db.mu.Lock()
	defer db.mu.Unlock()

	if known, _ := db.nodes.Get(node.name); known != node {
		return nil
	}

	update, _ := db.plan(node, Classic, nil) // no input can not be a wrong one
	db.commit(node, update)

	node.removed.Store(true)
	db.nodes.Delete(node.name)

	db.release(node)
	db.leave(node)
	db.revision.Add(1)

	return update.kinds()
}

// leave takes a node out of the sequence, which drops those that are gone once they are the larger half.
func (db *Database[T]) leave(node *Node[T]) {
	db.sequence[node.at] = nil
	db.removed++

	if 2*db.removed <= len(db.sequence) {
		return
	}

	kept := make([]*Node[T], 0, 2*(len(db.sequence)-db.removed))

	for _, node := range db.sequence {
		if node != nil {
			node.at = len(kept)
			kept = append(kept, node)
		}
	}

	db.sequence, db.removed = kept, 0
}

// Get returns the controller of the name.
func (db *Database[T]) Get(name string) (*Node[T], bool) {
	db.mu.Lock()
	defer db.mu.Unlock()

	return db.nodes.Get(name)
}

// Nodes returns all controllers in order of registration.
func (db *Database[T]) Nodes() []*Node[T] {
	db.mu.Lock()
	defer db.mu.Unlock()

	nodes := make([]*Node[T], 0, db.nodes.Len())

	for _, node := range db.sequence {
		if node != nil {
			nodes = append(nodes, node)
		}
	}

	return nodes
}

// Revision is a number that is another one after each change of the declarations. A graph that was exported after a revision was
// asked for has at least all that had changed by then, so what is made of it may be kept for as long as the revision stays.
func (db *Database[T]) Revision() uint64 { return db.revision.Load() }

// Needs tells what the inputs in force ask of a kind: whether any of them needs its changes, and whether any needs
// the known keys of the kind to be tracked, which inputs of queue controllers and destroy-ready inputs do.
func (db *Database[T]) Needs(kind reduced.Kind) (watched, tracked bool) {
	db.mu.Lock()
	defer db.mu.Unlock()

	index := db.index(kind)
	if index == nil {
		return false, false
	}

	return index.inputs > 0, index.tracked > 0
}
