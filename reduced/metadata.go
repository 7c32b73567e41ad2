package reduced

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

var _ controller.ReducedResourceMetadata = (*Metadata)(nil)

// Metadata is what the pipeline knows of one resource: which one it is, and the [Facts]. It implements the contract's
// [controller.ReducedResourceMetadata], so a queue controller's MapInput gets it as it is.
//
// The zero value is no metadata; build one with [Of].
type Metadata struct {
	key Key

	Facts
}

// Of reduces a resource as one event showed it; gone tells that the event was a destroy.
func Of(res resource.Resource, gone bool) (m Metadata) {
	m.From(res, gone)

	return m
}

// From is [Of] into the place of a zero value, for paths that are short: what was written as words, and is copied in larger pieces at once,
// keeps a processor waiting.
func (m *Metadata) From(res resource.Resource, gone bool) {
	md := res.Metadata()

	m.key.Namespace, m.key.Type, m.key.ID = md.Namespace(), md.Type(), md.ID()
	m.labels = *md.Labels()
	m.version = md.Version().Value()
	m.firstVersion = m.version
	m.created = md.Created().UnixNano()
	m.phase = uint8(md.Phase())
	m.events = 1

	if md.Finalizers().Empty() {
		m.flags |= finalizersEmpty
	}

	if gone {
		m.flags |= destroyed | sawDestroy | beganGone
		m.changed = ChangeDestroyed
	}
}

// Merge returns newer with what older carried and a later event must not hide, see [MergeFacts]. Both must be about one
// key.
func Merge(older, newer Metadata) Metadata {
	if older.events == 0 {
		return newer
	}

	return Metadata{older.key, MergeFacts(older.Facts, newer.Facts)}
}

// Gone returns the metadata as a destroy of the same incarnation shows it: last labels, last phase.
func (m Metadata) Gone() Metadata {
	m.flags |= destroyed | sawDestroy | beganGone
	m.events, m.firstVersion, m.changed = 1, m.version, ChangeDestroyed

	return m
}

// Recreated returns the metadata marked as having been destroyed before it came to its present state.
func (m Metadata) Recreated() Metadata {
	m.flags |= sawDestroy
	m.changed |= ChangeDestroyed

	return m
}

// AfterGap returns the metadata marked as what a list has shown: some of the events before it may not have been seen.
func (m Metadata) AfterGap() Metadata {
	m.flags |= missed
	m.changed = m.changed&ChangeDestroyed | ChangeListed

	return m
}

// Key returns the identity of the resource.
func (m *Metadata) Key() Key { return m.key }

// Is tells whether the resource is of the kind.
func (m *Metadata) Is(kind *Kind) bool {
	return m.key.Type == kind.Type && m.key.Namespace == kind.Namespace
}

// Namespace implements [resource.Pointer].
func (m *Metadata) Namespace() resource.Namespace { return m.key.Namespace }

// Type implements [resource.Pointer].
func (m *Metadata) Type() resource.Type { return m.key.Type }

// ID implements [resource.Pointer].
func (m *Metadata) ID() resource.ID { return m.key.ID }
