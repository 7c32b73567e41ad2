package answer

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// Resource returns all there is to say about a resource, whether or not it is there. The error is that of the state.
func (a *Answers) Resource(ctx context.Context, ref api.Ref) (*api.ResourceDetail, error) {
	edges, err := a.edges()
	if err != nil {
		return nil, err
	}

	d := &api.ResourceDetail{
		Ref: ref, Finalizers: []api.Finalizer{}, Writers: append([]string{}, edges.writers[ref.Type]...), Dependents: edges.dependents(ref),
		History: history(a.books.now(), ref),
	}

	res, err := a.cfg.State.Get(ctx, keyOf(ref).Pointer())

	switch {
	case state.IsNotFoundError(err):
		return d, nil
	case err != nil:
		return nil, err
	}

	md := res.Metadata()
	d.Exists, d.Version, d.Phase, d.Owner = true, md.Version().String(), md.Phase().String(), md.Owner()
	d.Created, d.Updated = when(md.Created()), when(md.Updated())
	d.Redacted = a.secret(ctx, res)

	if d.Redacted == "" {
		d.Says = says(res)
	}

	if d.YAML, err = yamlOf(res, d.Redacted); err != nil {
		d.YAML, d.Redacted = "", err.Error()
	}

	h := a.cfg.Engine.Health()

	for _, name := range *md.Finalizers() {
		d.Finalizers = append(d.Finalizers, finalizerOf(name, &h))
	}

	return d, nil
}

func finalizerOf(name resource.Finalizer, h *runtime.Health) api.Finalizer {
	for i := range h.Controllers {
		if c := &h.Controllers[i]; c.Name == name {
			return api.Finalizer{Name: name, Registered: true, State: StateOf(c)}
		}
	}

	return api.Finalizer{Name: name, Orphaned: true}
}

// List returns the resources of a kind, up to a number.
func (a *Answers) List(ctx context.Context, namespace resource.Namespace, typ resource.Type, limit int) (*api.ResourceList, error) {
	list, err := a.cfg.State.List(ctx, resource.NewMetadata(namespace, typ, "", resource.VersionUndefined))
	if err != nil {
		return nil, err
	}

	l := &api.ResourceList{Namespace: namespace, Type: typ, Items: []api.ResourceRow{}}

	for _, res := range list.Items {
		if len(l.Items) == limit {
			l.More = len(list.Items) - limit

			break
		}

		md := res.Metadata()
		l.Items = append(l.Items, api.ResourceRow{
			Ref:     api.Ref{Namespace: md.Namespace(), Type: md.Type(), ID: md.ID()},
			Version: md.Version().String(), Phase: md.Phase().String(), Owner: md.Owner(),
		})
	}

	return l, nil
}
