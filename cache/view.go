package cache

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/tidwall/btree"

	"github.com/switchyard-run/switchyard/reduced"
)

// View is the contents of a collection at one moment. It does not change and needs no lock.
type View struct {
	tree *btree.Map[resource.ID, resource.Resource]
	kind reduced.Kind
}

// Len returns the number of resources.
func (v View) Len() int { return v.tree.Len() }

// Get returns a deep copy of the resource, or a [NotFoundError].
func (v View) Get(id resource.ID) (resource.Resource, error) {
	res, ok := v.tree.Get(id)
	if !ok {
		return nil, &NotFoundError{Key: reduced.Key{Kind: v.kind, ID: id}}
	}

	return res.DeepCopy(), nil
}

// List returns deep copies of the resources that match the queries, sorted by id.
func (v View) List(opts state.ListOptions) resource.List {
	all := opts.IDQuery.Regexp == nil && len(opts.LabelQueries) == 0

	list := resource.List{Items: []resource.Resource{}}
	if all {
		list.Items = make([]resource.Resource, 0, v.tree.Len())
	}

	v.tree.Scan(func(_ resource.ID, res resource.Resource) bool {
		if all || opts.IDQuery.Matches(*res.Metadata()) && opts.LabelQueries.Matches(*res.Metadata().Labels()) {
			list.Items = append(list.Items, res.DeepCopy())
		}

		return true
	})

	return list
}

// NotFoundError says that a resource is not in the cache. It is a not-found error of the contract, see
// state.IsNotFoundError.
type NotFoundError struct{ Key reduced.Key }

// Error names the resource.
func (e *NotFoundError) Error() string { return fmt.Sprintf("resource %s doesn't exist", e.Key) }

// NotFoundError implements the contract's state.ErrNotFound.
func (*NotFoundError) NotFoundError() {}
