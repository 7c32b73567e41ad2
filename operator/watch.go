package operator

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reduced"
)

// watchedKind is a kind of resources that primaries depend on. Either function says which primaries they are.
type watchedKind struct {
	kind reduced.Kind
	// mapp returns the primaries that a resource of the kind wakes.
	mapp func(res resource.Resource) ([]resource.ID, error)
	// named returns the resources of the kind that a primary names.
	named func(primary resource.Resource) ([]resource.ID, error)
}

// Watch declares a kind of resources that primaries depend on. A change of one wakes the primaries that the function names,
// and those that it named for the same resource before: who is not referred to any more has lost something.
//
// The kind may be one that the controller owns, or that of its status: then what belongs to one primary wakes others, too.
//
// The function sees nothing but the resource; it is quick, has no side effects, and may be called at once by several
// goroutines. One that panics is called again after a backoff, or when the resource changes if it was there before the
// controller; that goes on meanwhile. Once the function can answer, all primaries are woken, since nobody knows who was
// referred to in between.
func Watch[W generic.ResourceWithRD](c Definition, primaries func(W) []resource.ID, opts ...KindOption) {
	watched := watch[W](c.define(), opts, primaries == nil, "the mapper of the watched kind %s is nil: say whom it wakes, or give SameID")
	watched.mapp = idsOf(primaries, "watches")
}

// WatchNamed is [Watch] for resources that do not know who depends on them: the primaries name them, as those that they need. The
// function returns the ids that a primary names; a change of one of these resources, that it comes and that it goes, wakes the
// primaries that name it. Like the function of Watch, it sees nothing else, is quick, has no side effects, and may be called at
// once by several goroutines.
//
// Each change of a resource of the kind costs a list of all primaries, from the cache where their kind is cached. A primary for
// which the function panics is woken by each of them: nobody knows what it names.
func WatchNamed[W, P generic.ResourceWithRD](c *Controller[P], names func(P) []resource.ID, opts ...KindOption) {
	watched := watch[W](c.define(), opts, names == nil, "nothing says which %s a primary names: give WatchNamed a function")
	watched.named = idsOf(names, "works on")
}

// watch adds a watched kind to the definition.
func watch[W generic.ResourceWithRD](def *definition, opts []KindOption, none bool, problem string) *watchedKind {
	rd := declare[W](def, "a watched kind")

	if none {
		def.problem(problem, rd.Type)
	}

	o := def.options("the watched kind "+rd.Type, opts)
	if o.shared {
		def.problem("the watched kind %s is said to be Shared, which is for what is owned: leave it out", rd.Type)
	}

	watched := &watchedKind{kind: reduced.Kind{Namespace: rd.DefaultNamespace, Type: rd.Type}}
	if o.hasNamespace {
		watched.kind.Namespace = o.namespace
	}

	def.watched = append(def.watched, watched)

	return watched
}

// idsOf makes a function of resources out of one of resources of one type, which may panic.
func idsOf[R generic.ResourceWithRD](of func(R) []resource.ID, does string) func(res resource.Resource) ([]resource.ID, error) {
	return func(res resource.Resource) (ids []resource.ID, err error) {
		typed, ok := res.(R)
		if !ok {
			return nil, fmt.Errorf("the state holds a %T where the controller %s a %T: register the type where the state is made", res, does, typed)
		}

		err = contain.Call(func() error {
			ids = of(typed)

			return nil
		})

		return ids, err
	}
}

// SameID is the mapper of what belongs to the primary of its own id.
func SameID[W generic.ResourceWithRD](res W) []resource.ID { return []resource.ID{res.Metadata().ID()} }

// wakes returns the primaries that a watched resource wakes now.
func (q *qController) wakes(
	ctx context.Context, logger *zap.Logger, r controller.QRuntime, watched *watchedKind, md resource.Pointer,
) ([]resource.ID, error) {
	if watched.named != nil {
		return q.naming(ctx, logger, r, watched, md.ID())
	}

	source := reduced.Key{Kind: watched.kind, ID: md.ID()}

	res, err := r.Get(ctx, md)

	var now []resource.ID

	switch {
	case state.IsNotFoundError(err):
	case err != nil:
		return nil, err
	default:
		if now, err = watched.mapp(res); err != nil {
			q.references.lose(source)

			return nil, fmt.Errorf("mapping %s to primaries: %w", res.Metadata(), err)
		}
	}

	var all []resource.ID

	if q.references.isLost(source) {
		if all, err = q.primaries(ctx, r); err != nil {
			return nil, err
		}
	}

	return append(q.references.wake(source, now), all...), nil
}

// primaries returns the ids of all of them.
func (q *qController) primaries(ctx context.Context, r controller.QRuntime) (ids []resource.ID, err error) {
	list, err := r.ListUncached(ctx, resource.NewMetadata(q.def.primary.Namespace, q.def.primary.Type, "", resource.VersionUndefined))
	if err != nil {
		return nil, fmt.Errorf("waking all primaries, as it was not known which: %w", err)
	}

	for _, res := range list.Items {
		ids = append(ids, res.Metadata().ID())
	}

	return ids, nil
}

// naming returns the primaries that name a resource, and those of which nobody knows what they name, so that one of them keeps
// the others from nothing. One that begins to name it at this moment need not be among them: it has changed itself, and its pass
// looks at the resource as it is then.
func (q *qController) naming(
	ctx context.Context, logger *zap.Logger, r controller.QRuntime, watched *watchedKind, id resource.ID,
) (ids []resource.ID, err error) {
	kind := q.def.primary

	list, err := r.List(ctx, resource.NewMetadata(kind.Namespace, kind.Type, "", resource.VersionUndefined))
	if err != nil {
		return nil, err
	}

	for _, primary := range list.Items {
		names, err := watched.named(primary)
		if err != nil {
			logger.Error("a primary does not tell what it names, and is woken in case it does", append(contain.Fields(err),
				zap.String("primary", primary.Metadata().ID()), zap.String("watched", watched.kind.Type))...)
		}

		if err != nil || slices.Contains(names, id) {
			ids = append(ids, primary.Metadata().ID())
		}
	}

	return ids, nil
}

// learn fills the references and the offspring once, before the first pass: a source that moves away from a primary after that pass
// has looked at it is known to have been there. A pass that comes while another one learns waits for it.
func (q *qController) learn(ctx context.Context, logger *zap.Logger, r controller.QRuntime) error {
	select {
	case <-q.learned:
		return nil
	case q.learning <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}

	defer func() { <-q.learning }()

	select {
	case <-q.learned:
		return nil
	default:
	}

	for _, watched := range q.def.watched {
		if watched.mapp == nil {
			continue
		}

		if err := q.learnKind(ctx, logger, r, watched); err != nil {
			return fmt.Errorf("learning which primaries depend on %s: %w", watched.kind.Type, err)
		}
	}

	for _, owned := range q.def.owned {
		if err := q.learnChildren(ctx, r, owned.kind); err != nil {
			return fmt.Errorf("learning which children there are of type %s: %w", owned.kind.Type, err)
		}
	}

	close(q.learned)

	return nil
}

func (q *qController) learnKind(ctx context.Context, logger *zap.Logger, r controller.QRuntime, watched *watchedKind) error {
	list, err := r.ListUncached(ctx, resource.NewMetadata(watched.kind.Namespace, watched.kind.Type, "", resource.VersionUndefined))
	if err != nil {
		return err
	}

	for _, res := range list.Items {
		ids, err := watched.mapp(res)
		if err != nil {
			// All primaries are looked at now, whoever depends on it. Its next event calls the mapper, until it can answer.
			q.references.lose(reduced.Key{Kind: watched.kind, ID: res.Metadata().ID()})
			logger.Error("it is not known which primaries depend on a resource; when it changes, all of them are woken",
				append([]zap.Field{zap.Stringer("resource", res.Metadata())}, contain.Fields(err)...)...)

			continue
		}

		q.references.learn(reduced.Key{Kind: watched.kind, ID: res.Metadata().ID()}, ids)
	}

	return nil
}

// pointers are those to primaries. An empty id is nobody's: it is what comes of a label that is not there.
func (q *qController) pointers(ids []resource.ID) (all []resource.Pointer) {
	for _, id := range ids {
		if id != "" {
			all = append(all, resource.NewMetadata(q.def.primary.Namespace, q.def.primary.Type, id, resource.VersionUndefined))
		}
	}

	return all
}
