package dependency

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/reduced"
)

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
