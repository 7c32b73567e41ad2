package operator

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Ensure makes a child of the primary, or changes the one that is there. The empty child says which one: it has the id and
// namespace of the primary unless it says others. The function says what is to be so in it; what it does not touch stays as
// it is, whoever wrote it. It is called with the child as the state has it right now, and may be nil. Nothing is written if
// nothing changes.
//
// Ensure fails, and the pass with it, if somebody else changes the child at the same moment; it is [Terminal] if the child is
// not the controller's, or not of this life of this primary: children are not adopted. A child that is being torn down is
// waited for, and made again once it is gone.
func Ensure[C generic.ResourceWithRD](ctx context.Context, c Pass, child C, change func(C)) error {
	_, err := EnsureWithResult(ctx, c, child, change)

	return err
}

// EnsureWithResult is [Ensure], and returns the child as it is then.
func EnsureWithResult[C generic.ResourceWithRD](ctx context.Context, c Pass, child C, change func(C)) (C, error) {
	return ensureChild(ctx, c, child, func(child C) error {
		if change != nil {
			change(child)
		}

		return nil
	})
}

// EnsureSpec is [Ensure] for a child whose spec is all of the controller's: it is to be this and nothing else, so that what an
// earlier pass has set and this one does not is gone.
func EnsureSpec[S any, C interface {
	generic.ResourceWithRD
	TypedSpec() *S
}](ctx context.Context, c Pass, child C, spec S) error {
	return Ensure(ctx, c, child, func(child C) { *child.TypedSpec() = spec })
}

func ensureChild[C generic.ResourceWithRD](ctx context.Context, c Pass, child C, change func(C) error) (C, error) {
	run := c.running()

	current, desired, err := run.child(ctx, child)
	if err != nil {
		return child, fmt.Errorf("ensuring %s: %w", typeName[C](), err)
	}

	typed, err := as[C](desired)
	if err != nil {
		return child, err
	}

	if err := change(typed); err != nil {
		return child, err
	}

	return typed, run.putChild(ctx, current, typed)
}

// child returns what the state has in the place of a child, and a copy to change, or an empty one if there is nothing that
// can be changed.
func (run *pass) child(ctx context.Context, empty generic.ResourceWithRD) (current, desired resource.Resource, err error) {
	kind, err := run.ownedKind(empty)
	if err != nil {
		return nil, nil, err
	}

	id := empty.Metadata().ID()
	if id == "" {
		id = run.primary.Metadata().ID()
	}

	// The child that is given belongs to the caller, who may give it again.
	desired = empty.DeepCopy()
	md := resource.NewMetadata(kind.Namespace, kind.Type, id, resource.VersionUndefined)
	*md.Labels() = *desired.Metadata().Labels()
	*md.Annotations() = *desired.Metadata().Annotations()
	*desired.Metadata() = md

	current, err = run.findMine(ctx, &md)
	if err != nil || current == nil {
		return nil, desired, err
	}

	if current.Metadata().Phase() == resource.PhaseRunning {
		desired = current.DeepCopy()
	}

	return current, desired, nil
}

// findMine reads what is in the place of a child, and refuses what is none. Who is refused is woken when that changes; so it is
// read once more when this has been noted, since it may have changed before.
func (run *pass) findMine(ctx context.Context, md *resource.Metadata) (resource.Resource, error) {
	current, err := run.find(ctx, md)
	if err != nil || current == nil || run.mine(current.Metadata()) == nil {
		return current, err
	}

	run.blockers.add(reduced.KeyOf(md), run.primary.Metadata().ID())

	current, err = run.find(ctx, md)
	if err == nil && current != nil {
		err = run.mine(current.Metadata())
	}

	return current, err
}

// putChild writes a child with the labels that say whose it is.
func (run *pass) putChild(ctx context.Context, current, desired resource.Resource) error {
	labels := desired.Metadata().Labels()
	labels.Set(ParentLabel, parentText(run.def.primary, run.primary.Metadata().ID()))
	labels.Set(ParentUIDLabel, run.incarnation)

	run.offspring.add(run.primary.Metadata().ID(), reduced.KeyOf(desired.Metadata()))

	return run.put(ctx, current, desired)
}

// ownedKind returns the declared kind of a child.
func (run *pass) ownedKind(child generic.ResourceWithRD) (reduced.Kind, error) {
	typ, ns := child.ResourceDefinition().Type, child.Metadata().Namespace()

	var namespaces []resource.Namespace

	for _, owned := range run.def.owned {
		switch {
		case owned.kind.Type != typ:
		case ns == "" || owned.kind.Namespace == ns:
			return owned.kind, nil
		default:
			namespaces = append(namespaces, owned.kind.Namespace)
		}
	}

	if len(namespaces) > 0 {
		return reduced.Kind{}, refused("controller %q owns %s in %q and not in %q: leave the namespace out, or say Owns with InNamespace(%q) as well",
			run.def.name, typ, namespaces, ns, ns)
	}

	if typ == run.def.primary.Type {
		return reduced.Kind{}, refused("%s is the primary of controller %q and no child: say Mutates in its definition, and Save", typ, run.def.name)
	}

	return reduced.Kind{}, refused("controller %q does not own %s: say Owns[%s] in its definition", run.def.name, typ, typeNameOf(child))
}

// mine tells whether something that is there is a child of this life of the primary.
func (run *pass) mine(md *resource.Metadata) error {
	parent, _ := md.Labels().Get(ParentLabel)
	uid, _ := md.Labels().Get(ParentUIDLabel)

	switch {
	case md.Owner() == "":
		return refused("refusing to adopt %s, which no controller owns: give the child another id, or remove what is there", md)
	case md.Owner() != run.def.name:
		return refused("refusing to adopt %s, which belongs to %q: give the child another id, or remove what is there", md, md.Owner())
	case parent == "":
		return refused("refusing to adopt %s, which is nobody's child: give the child another id, or remove what is there", md)
	case parent != parentText(run.def.primary, run.primary.Metadata().ID()):
		return refused("refusing to adopt %s, which is a child of %q: give each primary's child an id of its own", md, parent)
	case uid != run.incarnation:
		return refused("refusing to adopt %s, which is a child of an earlier %q: its finalizer was taken off by hand; remove the child", md, parent)
	}

	return nil
}

// Prune removes the children of a kind, but for those with the ids to keep. It removes nothing that is not the controller's
// and of this primary. A child that somebody holds is gone later; whoever has to know waits for it.
func Prune[C generic.ResourceWithRD](ctx context.Context, c Pass, keep ...resource.ID) error {
	run := c.running()

	rd, err := definitionOf[C]()
	if err != nil {
		return refused("%v", err)
	}

	known := false

	for _, owned := range run.def.owned {
		if owned.kind.Type == rd.Type {
			known = true

			if _, err := run.prune(ctx, owned.kind, keep); err != nil {
				return fmt.Errorf("pruning %s: %w", rd.Type, err)
			}
		}
	}

	if !known {
		return refused("controller %q does not own %s: say Owns[%s] in its definition", run.def.name, rd.Type, typeName[C]())
	}

	return nil
}

// prune removes the children of one kind and counts those that are not gone yet.
func (run *pass) prune(ctx context.Context, kind reduced.Kind, keep []resource.ID) (left int, err error) {
	parent := run.primary.Metadata().ID()

	for _, key := range run.offspring.list(parent, kind, keep) {
		child, err := run.find(ctx, key.Pointer())
		if err != nil {
			return 0, err
		}

		if child == nil || run.mine(child.Metadata()) != nil {
			run.offspring.remove(parent, key)

			continue
		}

		gone, err := run.remove(ctx, child.Metadata())
		if err != nil {
			return 0, err
		}

		if gone {
			run.offspring.remove(parent, key)
		} else {
			left++
		}
	}

	return left, nil
}
