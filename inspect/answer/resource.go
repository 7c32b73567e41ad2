package answer

import (
	"cmp"
	"context"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cause"
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
		History: history(a.cfg.Engine.Book(), ref),
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

// history is the versions of a resource that passes are remembered to have made, or to have been told of.
func history(book *cause.Book, ref api.Ref) []api.Version {
	key, all := keyOf(ref), []api.Version{}
	made := map[uint64]bool{}

	for _, p := range book.WrittenBy(key.Pointer()) {
		for i := range p.Writes {
			w := &p.Writes[i]
			if w.Resource != key {
				continue
			}

			by := passRef(p)
			made[w.Version] = true
			all = append(all, api.Version{Version: w.Version, Verb: w.Verb, By: &by, At: p.Began})
		}
	}

	for _, name := range book.Controllers() {
		told := book.Passes(name)

		for i := range told {
			all = append(all, seen(book, &told[i], ref, made)...)
		}
	}

	slices.SortStableFunc(all, func(a, b api.Version) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Version, a.Version))
	})

	return all
}

// seen is what a pass was told of, and nobody who is known has made.
func seen(book *cause.Book, p *cause.Pass, ref api.Ref, known map[uint64]bool) (all []api.Version) {
	for i := range p.Causes {
		c := &p.Causes[i]
		if c.Resource != keyOf(ref) || known[c.To] {
			continue
		}

		if w := book.Writers(p, c); w.Others > 0 {
			known[c.To] = true
			by := passRef(p)
			all = append(all, api.Version{Version: c.To, Verb: c.Changed.String(), SeenBy: &by, Forgotten: w.Forgotten, At: p.Began})
		}
	}

	return all
}
