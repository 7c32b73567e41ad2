package operator

import (
	"context"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

// Get reads a resource as the state has it right now, so that it shows what this pass and others have written a moment ago.
// It is of a kind that the controller owns, watches, or has as its primary, in the namespace that was said there. What is not
// there is the contract's not-found error.
func Get[R generic.ResourceWithRD](ctx context.Context, c Pass, id resource.ID) (R, error) {
	run := c.running()

	return get[R](run, id, func(ptr resource.Pointer) (resource.Resource, error) { return run.runtime.GetUncached(ctx, ptr) })
}

// Cached is [Get] from the cache, where the kind is cached. It costs no round trip. That something is missing in the cache
// does not mean that it is gone: nothing is to be destroyed because of it.
func Cached[R generic.ResourceWithRD](ctx context.Context, c Pass, id resource.ID) (R, error) {
	run := c.running()

	return get[R](run, id, func(ptr resource.Pointer) (resource.Resource, error) { return run.runtime.Get(ctx, ptr) })
}

// List reads all resources of a kind, as the state has them right now, or those that the options select. See [Get].
func List[R generic.ResourceWithRD](ctx context.Context, c Pass, opts ...state.ListOption) ([]R, error) {
	run := c.running()

	return list[R](run, func(kind resource.Kind) (resource.List, error) { return run.runtime.ListUncached(ctx, kind, opts...) })
}

// CachedList is [List] from the cache, where the kind is cached. See [Cached].
func CachedList[R generic.ResourceWithRD](ctx context.Context, c Pass, opts ...state.ListOption) ([]R, error) {
	run := c.running()

	return list[R](run, func(kind resource.Kind) (resource.List, error) { return run.runtime.List(ctx, kind, opts...) })
}

func get[R generic.ResourceWithRD](run *pass, id resource.ID, read func(resource.Pointer) (resource.Resource, error)) (found R, err error) {
	kind, err := readable[R](run)
	if err != nil {
		return found, err
	}

	res, err := read(resource.NewMetadata(kind.Namespace, kind.Type, id, resource.VersionUndefined))
	if err != nil {
		return found, err
	}

	return as[R](res)
}

func list[R generic.ResourceWithRD](run *pass, read func(resource.Kind) (resource.List, error)) ([]R, error) {
	kind, err := readable[R](run)
	if err != nil {
		return nil, err
	}

	all, err := read(resource.NewMetadata(kind.Namespace, kind.Type, "", resource.VersionUndefined))
	if err != nil {
		return nil, err
	}

	found := make([]R, len(all.Items))

	for i, res := range all.Items {
		if found[i], err = as[R](res); err != nil {
			return nil, err
		}
	}

	return found, nil
}

func as[R generic.ResourceWithRD](res resource.Resource) (R, error) {
	typed, ok := res.(R)
	if !ok {
		return typed, refused("the state holds a %T where the controller reads a %T: register the type where the state is made", res, typed)
	}

	return typed, nil
}

// readable returns the kind in which the controller has declared a type.
func readable[R generic.ResourceWithRD](run *pass) (kind reduced.Kind, err error) {
	rd, err := definitionOf[R]()
	if err != nil {
		return kind, refused("%v", err)
	}

	var kinds []reduced.Kind

	for _, kind := range run.def.kinds() {
		if kind.Type == rd.Type && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}

	switch len(kinds) {
	case 0:
		return kind, refused("controller %q reads %s, which it has not declared: say Watch or Owns in its definition", run.def.name, rd.Type)
	case 1:
		return kinds[0], nil
	default:
		return kind, refused("controller %q has declared %s in several namespaces: read it through Runtime, and name one", run.def.name, rd.Type)
	}
}

// kinds returns all kinds that the controller has declared.
func (d *definition) kinds() []reduced.Kind {
	all := []reduced.Kind{d.primary}

	for _, owned := range d.owned {
		all = append(all, owned.kind)
	}

	for _, watched := range d.watched {
		all = append(all, watched.kind)
	}

	if d.status != nil {
		all = append(all, d.status.kind)
	}

	return all
}
