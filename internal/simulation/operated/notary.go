package operated

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// notary is a state that looks at what the operator writes into it.
type notary struct {
	state.CoreState

	world    *controllertest.World
	registry *registry

	// mu is held for a look and the write that follows it, and guards the count of writes, without those of events.
	mu     sync.Mutex
	writes int
}

// mostDelay is more than what lies between the end of a pass and its last write.
const mostDelay = 2 * time.Minute

type foreignKey struct{}

// foreign marks what the script writes.
func foreign(ctx context.Context) context.Context { return context.WithValue(ctx, foreignKey{}, true) }

// written returns how often the operator has written.
func (n *notary) written() int {
	n.mu.Lock()
	defer n.mu.Unlock()

	return n.writes
}

// Create implements [state.CoreState].
func (n *notary) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	return n.write(ctx, res.Metadata(), res, func() error { return n.CoreState.Create(ctx, res, opts...) })
}

// Update implements [state.CoreState].
func (n *notary) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	return n.write(ctx, res.Metadata(), res, func() error { return n.CoreState.Update(ctx, res, opts...) })
}

// Destroy implements [state.CoreState].
func (n *notary) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	return n.write(ctx, ptr, nil, func() error { return n.CoreState.Destroy(ctx, ptr, opts...) })
}

func (n *notary) write(ctx context.Context, ptr resource.Pointer, next resource.Resource, do func() error) error {
	if ctx.Value(foreignKey{}) != nil {
		return do()
	}

	n.mu.Lock()
	defer n.mu.Unlock()

	before := n.get(ctx, ptr)

	if next != nil {
		next = next.DeepCopy()
	}

	if err := do(); err != nil {
		return err
	}

	if ptr.Type() == operator.EventType {
		n.public(next)

		return nil
	}

	n.writes++

	if before != nil && next != nil {
		n.notVain(before, next)
	}

	switch ptr.Type() {
	case siteType:
		n.site(ctx, before, next)
	case siteStatusType:
		n.status(ctx, before, next)
	case configType, pageType:
		n.child(ctx, before, next)
	}

	return nil
}

// get returns what is there, or nil.
func (n *notary) get(ctx context.Context, ptr resource.Pointer) resource.Resource {
	res, err := n.CoreState.Get(ctx, ptr)
	if err != nil && !state.IsNotFoundError(err) && ctx.Err() == nil {
		n.world.Errorf("%s can not be read: %s", ptr, err)
	}

	return res
}

// notVain checks that a write changes something.
func (n *notary) notVain(before, next resource.Resource) {
	same := next.DeepCopy()
	same.Metadata().SetVersion(before.Metadata().Version())
	same.Metadata().SetUpdated(before.Metadata().Updated())

	if resource.Equal(before, same) {
		n.world.Errorf("%s is written as it was", next.Metadata())
	}
}

// public checks that a resource has nothing in it that is not for everybody.
func (n *notary) public(res resource.Resource) {
	if res != nil && strings.Contains(fmt.Sprintf("%+v", res.Spec()), secret) {
		n.world.Errorf("%s tells a secret: %+v", res.Metadata(), res.Spec())
	}
}

// held checks that the primary of something that is made is there, in that life, and held.
func (n *notary) held(ctx context.Context, of resource.Resource, id resource.ID, life string) {
	v := n.get(ctx, pointer(siteType, id))

	switch {
	case v == nil || operator.Incarnation(v) != life:
		n.world.Errorf("%s is written for life %q of a site that is not there", of.Metadata(), life)
	case !v.Metadata().Finalizers().Has(finalizer):
		n.world.Errorf("%s is written for a site that is not held", of.Metadata())
	}
}

// child checks a write of a child.
func (n *notary) child(ctx context.Context, before, next resource.Resource) {
	if next == nil || next.Metadata().Phase() != resource.PhaseRunning {
		return
	}

	md := next.Metadata()
	parent, _ := md.Labels().Get(operator.ParentLabel)
	life, _ := md.Labels().Get(operator.ParentUIDLabel)

	n.held(ctx, next, strings.TrimPrefix(parent, siteType+"/"+namespace+"/"), life)

	if was, ok := before.(*config); ok {
		if is, ok := next.(*config); ok && is.TypedSpec().Note != was.TypedSpec().Note {
			n.world.Errorf("the note of %s was %q, and is made %q", md, was.TypedSpec().Note, is.TypedSpec().Note)
		}
	}
}

// status checks a write of a status.
func (n *notary) status(ctx context.Context, before, next resource.Resource) {
	n.public(next)

	if next == nil || next.Metadata().Phase() != resource.PhaseRunning {
		return
	}

	is := next.(*siteStatus).TypedSpec()
	n.held(ctx, next, next.Metadata().ID(), is.SubjectUID)

	if v := n.get(ctx, pointer(siteType, next.Metadata().ID())); v != nil && is.ObservedGeneration > generation.Of(v) {
		n.world.Errorf("the status %s is of generation %d, which has not been yet", next.Metadata(), is.ObservedGeneration)
	}

	var was operator.Conditions

	if before, ok := before.(*siteStatus); ok && before.Metadata().Phase() == resource.PhaseRunning && before.TypedSpec().SubjectUID == is.SubjectUID {
		was = before.TypedSpec().Conditions
	}

	seen := map[string]bool{}

	for _, c := range is.Conditions {
		old, had := was.Get(c.Type)

		switch {
		case seen[c.Type]:
			n.world.Errorf("condition %s is in %s twice", c.Type, next.Metadata())
		case had && old.Status == c.Status && !old.LastTransitionTime.Equal(c.LastTransitionTime),
			had && old.Status != c.Status && time.Since(c.LastTransitionTime) > mostDelay:
			n.world.Errorf("condition %s of %s was %s since %s, and is %s since %s",
				c.Type, next.Metadata(), old.Status, old.LastTransitionTime, c.Status, c.LastTransitionTime)
		}

		seen[c.Type] = true
	}

	for _, c := range was {
		if !seen[c.Type] {
			n.world.Errorf("condition %s of %s is lost", c.Type, next.Metadata())
		}
	}
}

// site checks a write of a primary: the finalizer goes last.
func (n *notary) site(ctx context.Context, before, next resource.Resource) {
	if before == nil || next == nil {
		return
	}

	if *before.(*site).TypedSpec() != *next.(*site).TypedSpec() {
		n.world.Errorf("%s was changed by the operator", next.Metadata())
	}

	if !before.Metadata().Finalizers().Has(finalizer) || next.Metadata().Finalizers().Has(finalizer) {
		return
	}

	md, life := next.Metadata(), operator.Incarnation(before)

	if n.get(ctx, pointer(siteStatusType, md.ID())) != nil {
		n.world.Errorf("%s is let go, and has a status", md)
	}

	if n.registry.all()[md.ID()] != "" {
		n.world.Errorf("%s is let go, and has a record", md)
	}

	for _, typ := range []resource.Type{configType, pageType} {
		all, err := n.List(ctx, pointer(typ, ""), state.WithLabelQuery(resource.LabelEqual(operator.ParentUIDLabel, life)))
		if err != nil {
			n.world.Errorf("%s can not be listed: %s", typ, err)
		}

		for _, child := range all.Items {
			n.world.Errorf("%s is let go, and has %s", md, child.Metadata())
		}
	}
}
