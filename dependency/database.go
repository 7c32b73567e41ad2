package dependency

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"

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
	nodes     map[string]*Node[T]
	exclusive map[resource.Type]string
	shared    map[resource.Type]map[string]struct{}
	order     uint64
	pass      uint64

	// kinds maps reduced.Kind to *kindIndex[T]. It is written under mu and read without.
	kinds sync.Map

	// routed numbers the changes that were routed; owned by whoever routes. It is kept here and not in the router, so
	// that the marks that one router has left on the nodes mean nothing to the next.
	routed uint64
}

// kindIndex is the reverse look-up for one kind.
type kindIndex[T any] struct {
	whole list[T]
	ids   sync.Map // resource.ID to *list[T]; written under Database.mu, read without.

	// removals counts the entries that were taken away, each before it is hidden, for the router to see that it walks
	// beside a removal.
	removals atomic.Uint64

	// inputs counts the inputs on the kind, tracked those of them that need its known keys; guarded by Database.mu.
	inputs  int
	tracked int
}

// NewDatabase returns an empty database.
func NewDatabase[T any]() *Database[T] {
	return &Database[T]{
		nodes:     map[string]*Node[T]{},
		exclusive: map[resource.Type]string{},
		shared:    map[resource.Type]map[string]struct{}{},
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

	if _, taken := db.nodes[name]; taken {
		return nil, &DeclarationError{Reason: ErrNameTaken, Controller: name, Hint: "names are unique over classic and queue controllers; rename one or unregister the other"}
	}

	node := &Node[T]{
		name:    name,
		target:  target,
		outputs: make(map[resource.Type]controller.OutputKind, len(outputs)),
		kinds:   map[reduced.Kind]*kindInputs[T]{},
	}

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

	db.order++
	node.order = db.order
	db.nodes[name] = node

	for typ, kind := range node.outputs {
		if kind == controller.OutputExclusive {
			db.exclusive[typ] = name

			continue
		}

		if db.shared[typ] == nil {
			db.shared[typ] = map[string]struct{}{}
		}

		db.shared[typ][name] = struct{}{}
	}

	db.commit(node, update)

	return node, nil
}

// SetInputs replaces the inputs of a registered controller, all of them or, with a [DeclarationError], none. It
// returns the kinds on which an input was added or removed, in order. Changes to inputs that stay are routed without
// a gap, and new inputs are in force before old ones go.
func (db *Database[T]) SetInputs(node *Node[T], form Form, inputs []controller.Input) ([]reduced.Kind, error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	if db.nodes[node.name] != node || node.released {
		return nil, &DeclarationError{Reason: ErrUnknownController, Controller: node.name, Hint: "it was unregistered"}
	}

	update, err := db.plan(node, form, inputs)
	if err != nil {
		return nil, err
	}

	return db.commit(node, update), nil
}

// Release takes away all inputs of a controller for good, so that nothing is routed to it any more, and returns the
// kinds they were on. Its name and its outputs stay claimed until [Database.Remove].
func (db *Database[T]) Release(node *Node[T]) []reduced.Kind {
	db.mu.Lock()
	defer db.mu.Unlock()

	return db.release(node)
}

func (db *Database[T]) release(node *Node[T]) []reduced.Kind {
	if db.nodes[node.name] != node {
		return nil
	}

	node.released = true

	update, _ := db.plan(node, Classic, nil) // no input can not be a wrong one

	return db.commit(node, update)
}

// Remove forgets a controller: inputs, outputs and name. It returns the kinds that the inputs were on.
func (db *Database[T]) Remove(node *Node[T]) []reduced.Kind {
	db.mu.Lock()
	defer db.mu.Unlock()

	if db.nodes[node.name] != node {
		return nil
	}

	kinds := db.release(node)

	delete(db.nodes, node.name)

	for typ, kind := range node.outputs {
		if kind == controller.OutputExclusive {
			delete(db.exclusive, typ)

			continue
		}

		delete(db.shared[typ], node.name)

		if len(db.shared[typ]) == 0 {
			delete(db.shared, typ)
		}
	}

	return kinds
}

// Get returns the controller of the name.
func (db *Database[T]) Get(name string) (*Node[T], bool) {
	db.mu.Lock()
	defer db.mu.Unlock()

	node, ok := db.nodes[name]

	return node, ok
}

// Nodes returns all controllers in order of registration.
func (db *Database[T]) Nodes() []*Node[T] {
	db.mu.Lock()
	defer db.mu.Unlock()

	nodes := make([]*Node[T], 0, len(db.nodes))

	for _, node := range db.nodes {
		nodes = append(nodes, node)
	}

	slices.SortFunc(nodes, inOrder)

	return nodes
}

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

func (db *Database[T]) index(kind reduced.Kind) *kindIndex[T] {
	index, ok := db.kinds.Load(kind)
	if !ok {
		return nil
	}

	return index.(*kindIndex[T])
}

func (db *Database[T]) checkOutputs(node *Node[T], outputs []controller.Output) error {
	for _, out := range outputs {
		refuse := func(reason error, other, hint string) error {
			return &DeclarationError{
				Reason: reason, Controller: node.name, Other: other, Resource: describeOutput(out.Type, out.Kind), Hint: hint,
			}
		}

		if out.Type == "" {
			return refuse(ErrInvalidOutput, "", "give the resource type")
		}

		if out.Kind != controller.OutputExclusive && out.Kind != controller.OutputShared {
			return refuse(ErrInvalidOutput, "", "use OutputExclusive or OutputShared")
		}

		if _, twice := node.outputs[out.Type]; twice {
			return refuse(ErrInvalidOutput, "", "the type is declared twice, keep one of the two")
		}

		if owner, taken := db.exclusive[out.Type]; taken {
			return refuse(ErrOutputTaken, owner, "an exclusive output allows no other claim on its type; declare both as shared")
		}

		if out.Kind == controller.OutputExclusive && len(db.shared[out.Type]) > 0 {
			return refuse(ErrOutputTaken, firstOf(db.shared[out.Type]), "the type is already a shared output; declare it as shared here too")
		}

		node.outputs[out.Type] = out.Kind
	}

	return nil
}

func firstOf(names map[string]struct{}) string {
	first := ""

	for name := range names {
		if first == "" || name < first {
			first = name
		}
	}

	return first
}

// update is a checked change of a controller's inputs that waits to be put in force.
type update[T any] struct {
	add  []*dependent[T]
	kept int
	pass uint64
}

// plan checks inputs and works out what is new among them, in one pass over the list.
func (db *Database[T]) plan(node *Node[T], form Form, inputs []controller.Input) (update[T], error) {
	db.pass++
	u := update[T]{pass: db.pass}

	var fresh map[inputKey]struct{}

	for _, in := range inputs {
		if err := checkInput(node.name, form, in); err != nil {
			return u, err
		}

		if d := node.find(in); d != nil && d.input.Kind == in.Kind {
			if d.pass == u.pass {
				return u, duplicate(node.name, in)
			}

			d.pass = u.pass
			u.kept++

			continue
		}

		if fresh == nil {
			// An update is mostly of the same size as what it replaces, and most of it stays.
			fresh = make(map[inputKey]struct{}, max(len(inputs)-node.count(), 0))
		}

		key := inputKey{reduced.Kind{Namespace: in.Namespace, Type: in.Type}, in.ID}
		if _, twice := fresh[key]; twice {
			return u, duplicate(node.name, in)
		}

		fresh[key] = struct{}{}
		u.add = append(u.add, &dependent[T]{node: node, input: in, pass: u.pass})
	}

	// A key that was kept under one kind of input and is new under another was declared twice as well.
	for _, d := range u.add {
		if old := node.find(d.input); old != nil && old.pass == u.pass {
			return u, duplicate(node.name, d.input)
		}
	}

	return u, nil
}

type inputKey struct {
	kind reduced.Kind
	id   optional.Optional[resource.ID]
}

func duplicate(name string, in controller.Input) error {
	return &DeclarationError{
		Reason: ErrDuplicateInput, Controller: name, Resource: describeInput(in),
		Hint: "namespace, type and id of an input occur once per controller",
	}
}

func checkInput(name string, form Form, in controller.Input) error {
	refuse := func(hint string) error {
		return &DeclarationError{Reason: ErrInvalidInput, Controller: name, Resource: describeInput(in), Hint: hint}
	}

	if in.Type == "" {
		return refuse("give the resource type")
	}

	switch in.Kind {
	case controller.InputWeak, controller.InputStrong, controller.InputDestroyReady:
		if form == Queue {
			return refuse("a queue controller takes InputQPrimary, InputQMapped and InputQMappedDestroyReady")
		}
	case controller.InputQPrimary, controller.InputQMapped, controller.InputQMappedDestroyReady:
		if form == Classic {
			return refuse("a classic controller takes InputWeak, InputStrong and InputDestroyReady")
		}
	default:
		return refuse("use one of the input kinds of the contract")
	}

	return nil
}

// commit puts a planned update in force: first what is new, then the removal of what is no longer declared.
func (db *Database[T]) commit(node *Node[T], u update[T]) []reduced.Kind {
	var touched []reduced.Kind

	node.mu.Lock()
	defer node.mu.Unlock()

	old := make([]*dependent[T], 0, len(u.add))

	for _, d := range u.add {
		kind := reduced.Kind{Namespace: d.input.Namespace, Type: d.input.Type}
		touched = append(touched, kind)

		db.link(kind, d)

		k := node.kinds[kind]
		if k == nil {
			k = &kindInputs[T]{}
			node.kinds[kind] = k
		}

		id, byID := d.input.ID.Get()
		if replaced := k.find(id, byID); replaced != nil {
			old = append(old, replaced)
		}

		k.set(id, byID, d)
	}

	for _, d := range old {
		db.unlink(reduced.Kind{Namespace: d.input.Namespace, Type: d.input.Type}, d)
	}

	if node.count() > u.kept+len(u.add) {
		touched = append(touched, db.prune(node, u.pass)...)
	}

	slices.SortFunc(touched, reduced.Kind.Compare)

	return slices.Compact(touched)
}

// prune removes the inputs that the given pass has neither kept nor added.
func (db *Database[T]) prune(node *Node[T], pass uint64) []reduced.Kind {
	var touched []reduced.Kind

	for kind, k := range node.kinds {
		drop := func(d *dependent[T]) {
			touched = append(touched, kind)
			db.unlink(kind, d)
		}

		if k.whole != nil && k.whole.pass != pass {
			drop(k.whole)
			k.whole = nil
		}

		for id, d := range k.ids {
			if d.pass != pass {
				drop(d)
				delete(k.ids, id)
			}
		}

		if k.whole == nil && len(k.ids) == 0 {
			delete(node.kinds, kind)
		}
	}

	return touched
}

func (db *Database[T]) link(kind reduced.Kind, d *dependent[T]) {
	index := db.index(kind)
	if index == nil {
		index = &kindIndex[T]{}
		db.kinds.Store(kind, index)
	}

	index.inputs++

	if tracks(d.input.Kind) {
		index.tracked++
	}

	id, byID := d.input.ID.Get()
	if !byID {
		index.whole.add(d)

		return
	}

	ids, ok := index.ids.Load(id)
	if !ok {
		ids = &list[T]{}
		index.ids.Store(id, ids)
	}

	ids.(*list[T]).add(d)
}

func (db *Database[T]) unlink(kind reduced.Kind, d *dependent[T]) {
	index := db.index(kind)
	index.inputs--

	if tracks(d.input.Kind) {
		index.tracked--
	}

	index.removals.Add(1)
	d.list.remove(d)

	if id, byID := d.input.ID.Get(); byID && d.list.empty() {
		index.ids.Delete(id)
	}

	if index.inputs == 0 {
		db.kinds.Delete(kind)
	}
}

func tracks(kind controller.InputKind) bool {
	return kind != controller.InputWeak && kind != controller.InputStrong
}

func (k *kindInputs[T]) set(id resource.ID, byID bool, d *dependent[T]) {
	if !byID {
		k.whole = d

		return
	}

	if k.ids == nil {
		k.ids = map[resource.ID]*dependent[T]{}
	}

	k.ids[id] = d
}

func (n *Node[T]) count() int {
	count := 0

	for _, k := range n.kinds {
		count += len(k.ids)

		if k.whole != nil {
			count++
		}
	}

	return count
}
