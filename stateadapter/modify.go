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

// modification is one call of Modify. What the state calls back needs it, so it is one piece of memory.
type modification struct {
	adapter *Adapter
	key     reduced.Key
	change  change
	update  func(resource.Resource) error

	// The last attempt: what update itself returned, as against the state, and on top of which version.
	refused error
	version resource.Version
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
	var key reduced.Key

	reduce(&key, res.Metadata())

	if key == m.key {
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
	var ptr resource.Pointer = empty.Metadata()

	var key reduced.Key

	reduce(&key, ptr)

	if err := a.permitContent(ctx, Modify, key, empty); err != nil {
		return nil, err
	}

	a.cfg.Metrics.Read()
	a.outputs.touch(key)

	write := a.begin(key)
	defer write.End()

	m := &modification{adapter: a, key: key, change: a.changing(ctx, Modify, key, ptr), update: update}
	defer m.change.end()

	owner, updating := a.modifying(opts)
	apply := m.apply

	for created := false; ; {
		res, err := a.cfg.State.UpdateWithConflicts(ctx, ptr, apply, updating...)

		switch {
		case err == nil:
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

// modifying returns the owner of what Modify makes, and the options of its update. Most calls come without options, so what
// these come to is made once.
func (a *Adapter) modifying(opts []controller.ModifyOption) (owner string, updating []state.UpdateOption) {
	if len(opts) > 0 {
		return a.modifyingWith(owned.ToModifyOptions(opts...))
	}

	if known := a.updating.Load(); known != nil {
		return a.cfg.Name, known[:]
	}

	owner, updating = a.modifyingWith(owned.ToModifyOptions())
	a.updating.Store((*[1]state.UpdateOption)(updating))

	return owner, updating
}

func (a *Adapter) modifyingWith(options owned.ModifyOptions) (owner string, updating []state.UpdateOption) {
	if !options.WithNoOwner {
		owner = a.cfg.Name
	}

	return owner, []state.UpdateOption{state.WithUpdateOptions(state.UpdateOptions{Owner: owner, ExpectedPhase: options.ExpectedPhase})}
}
