package operator

import (
	"context"
	"slices"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// offspring remember which children each primary may have, so that removing them does not mean to look through all of a kind.
// They are learned before the first pass, noted before each is made, and when others are seen; whether one is there, and whose it
// is, the state says. A primary that is gone has no entry.
type offspring struct {
	// mu guards of, in which the children of each primary are in order.
	mu sync.Mutex
	of map[resource.ID][]reduced.Key
}

func (o *offspring) add(parent resource.ID, child reduced.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.of == nil {
		o.of = map[resource.ID][]reduced.Key{}
	}

	if i, known := slices.BinarySearchFunc(o.of[parent], child, reduced.Key.Compare); !known {
		o.of[parent] = slices.Insert(o.of[parent], i, child)
	}
}

func (o *offspring) remove(parent resource.ID, child reduced.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()

	if i, known := slices.BinarySearchFunc(o.of[parent], child, reduced.Key.Compare); known {
		o.of[parent] = slices.Delete(o.of[parent], i, i+1)
	}
}

// list returns the children of a kind that a primary may have, but for those with the ids to keep, in order.
func (o *offspring) list(parent resource.ID, kind reduced.Kind, keep []resource.ID) (children []reduced.Key) {
	o.mu.Lock()
	defer o.mu.Unlock()

	for _, child := range o.of[parent] {
		if child.Kind == kind && !slices.Contains(keep, child.ID) {
			children = append(children, child)
		}
	}

	return children
}

func (o *offspring) forget(parent resource.ID) {
	o.mu.Lock()
	defer o.mu.Unlock()

	delete(o.of, parent)
}

// learnChildren notes all children of a kind.
func (q *qController) learnChildren(ctx context.Context, r controller.QRuntime, kind reduced.Kind) error {
	list, err := r.ListUncached(ctx, resource.NewMetadata(kind.Namespace, kind.Type, "", resource.VersionUndefined))
	if err != nil {
		return err
	}

	for _, child := range list.Items {
		md := child.Metadata()
		if id, ok := parentID(q.def.primary, md.Labels()); ok && md.Owner() == q.def.name {
			q.offspring.add(id, reduced.KeyOf(md))
		}
	}

	return nil
}
