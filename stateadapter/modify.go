package stateadapter

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/owned"

	"github.com/switchyard-run/switchyard/reduced"
)

// Modify creates an output or updates it, see [Adapter.ModifyWithResult].
func (a *Adapter) Modify(ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption) error {
	_, err := a.ModifyWithResult(ctx, empty, update, opts...)

	return err
}

// modification is one call of Modify. What the state calls back needs it, so it is one piece of memory. One that has come to its end is
// used again.
type modification struct {
	adapter *Adapter
	key     reduced.Key
	change  change
	update  func(resource.Resource) error

	// The last attempt: what update itself returned, as against the state, and on top of which version.
	refused error
	version resource.Version
	// made tells that the state has done what it was asked for, and so will not call back any more.
	made bool

	// The fields below stay from one call to the next: apply as a value, and the options of a call without options, which is what most are,
	// nil before the first.
	applying   state.UpdaterFunc
	updating   [1]state.UpdateOption
	tombstones reduced.Tombstones
}

// modification returns one that nobody uses.
func (a *Adapter) modification() *modification {
	if m := a.spare.Swap(nil); m != nil {
		return m
	}

	m := &modification{adapter: a}
	m.applying = m.apply

	return m
}

// leave ends the call. The modification is kept for the next one, unless the state has failed, of which nobody knows what it still does.
func (a *Adapter) leave(m *modification) {
	if m.made {
		m.change, m.update, m.refused, m.version, m.made = change{}, nil, nil, resource.Version{}, false
		a.spare.Store(m)
	}
}

// apply calls update for the state.
func (m *modification) apply(res resource.Resource) error {
	m.version = res.Metadata().Version()

	if m.refused = m.update(res); m.refused == nil {
		m.refused = m.renamed(res)
	}

	if m.refused == nil {
		m.change.onTopOf(m.version)
	}

	return m.refused
}

// renamed returns an error if a resource is not the one that is to be modified: update may write anything into what it gets.
func (m *modification) renamed(res resource.Resource) error {
	md := res.Metadata()

	if md.ID() == m.key.ID && md.Type() == m.key.Type && md.Namespace() == m.key.Namespace {
		return nil
	}

	return m.adapter.refuse(Modify, &m.key, ErrRenamed)
}

// ModifyWithResult creates an output or updates it, and returns it as it is then. When others create, change or destroy
// it at the same time, it tries again, so update may be called several times, each time on the present content. An
// error of update ends it and is returned as it is.
func (a *Adapter) ModifyWithResult(
	ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption,
) (resource.Resource, error) {
	md := empty.Metadata()
	key := reduced.Key{Kind: reduced.Kind{Namespace: md.Namespace(), Type: md.Type()}, ID: md.ID()}

	var ptr resource.Pointer = md

	m := a.modification()
	defer a.leave(m)

	if err := a.permitContent(ctx, Modify, key, m.tombstones.Has(empty)); err != nil {
		return nil, err
	}

	a.cfg.Metrics.Read()
	a.outputs.touch(key)

	write := a.begin(key)
	defer write.End()

	m.key, m.update, m.change = key, update, a.changing(ctx, Modify, key, ptr)
	defer m.change.end()

	owner, updating := a.modifying(m, opts)

	for created := false; ; {
		res, err := a.cfg.State.UpdateWithConflicts(ctx, ptr, m.applying, updating...)

		switch {
		case err == nil:
			m.made = true
			m.change.made(res)
			write.OnTopOf(m.version)
			write.Wrote(res)

			return res, nil
		case m.refused != nil:
			return nil, err
		case !state.IsNotFoundError(err):
			return nil, classify(err, ptr)
		}

		if !created {
			if err = update(empty); err != nil {
				return nil, err
			}

			created = true
		}

		if err = m.renamed(empty); err != nil {
			return nil, err
		}

		m.change.onTopOf(resource.VersionUndefined)
		write.OnTopOf(resource.VersionUndefined)

		before := empty.Metadata().Created()
		err = a.cfg.State.Create(ctx, empty, state.WithCreateOwner(owner))

		switch {
		case err == nil:
			m.made = true
			m.change.made(empty)
			a.created(ctx, &write, empty, before)

			return empty, nil
		case !state.IsConflictError(err) || state.IsOwnerConflictError(err) || state.IsPhaseConflictError(err):
			return nil, classify(err, ptr)
		}

		// Somebody else has created it in between: now it is an update. A state may not look at the context, and be at odds with itself.
		if err = ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// modifying returns the owner of what Modify makes, and the options of its update.
func (a *Adapter) modifying(m *modification, opts []controller.ModifyOption) (owner string, updating []state.UpdateOption) {
	if len(opts) > 0 {
		return a.modifyingWith(owned.ToModifyOptions(opts...))
	}

	if m.updating[0] == nil {
		_, updating = a.modifyingWith(owned.ToModifyOptions())
		m.updating = [1]state.UpdateOption(updating)
	}

	return a.cfg.Name, m.updating[:]
}

func (a *Adapter) modifyingWith(options owned.ModifyOptions) (owner string, updating []state.UpdateOption) {
	if !options.WithNoOwner {
		owner = a.cfg.Name
	}

	return owner, []state.UpdateOption{state.WithUpdateOptions(state.UpdateOptions{Owner: owner, ExpectedPhase: options.ExpectedPhase})}
}
