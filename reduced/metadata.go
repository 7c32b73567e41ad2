package reduced

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

var _ controller.ReducedResourceMetadata = (*Metadata)(nil)

// Metadata is what the pipeline knows of one resource: the last state seen, and what was merged into it on the
// way. It implements the contract's [controller.ReducedResourceMetadata], so a queue controller's MapInput
// gets it as it is.
//
// The zero value is no metadata; build one with [Of]. The label set is shared with the resource it was taken
// from: read it, never write into its raw map.
type Metadata struct {
	key          Key
	labels       resource.Labels
	former       *former // nil is none
	version      uint64
	created      int64
	firstVersion uint64
	events       uint32
	phase        uint8
	flags        flags
}

type flags uint8

const (
	finalizersEmpty flags = 1 << iota
	destroyed
	sawDestroy
)

// Causes sums up the events that were merged into one [Metadata] while it waited to be delivered.
type Causes struct {
	// Events is how many events were merged, at least one for a delivered change.
	Events uint32
	// FirstVersion is the version that the first merged event carried.
	FirstVersion uint64
}

// Of reduces a resource as one event showed it; gone tells that the event was a destroy.
func Of(res resource.Resource, gone bool) Metadata {
	md := res.Metadata()

	m := Metadata{
		key:     KeyOf(md),
		labels:  *md.Labels(),
		version: md.Version().Value(),
		created: md.Created().UnixNano(),
		phase:   uint8(md.Phase()),
		events:  1,
	}

	m.firstVersion = m.version

	if md.Finalizers().Empty() {
		m.flags |= finalizersEmpty
	}

	if gone {
		m.flags |= destroyed | sawDestroy
	}

	return m
}

// Merge returns newer with what older carried and a later event must not hide: that the resource was destroyed in
// between, labels that it has no more, and the causes. Both must be about one key, older the earlier of the two; where
// one is no metadata at all, the other is returned.
func Merge(older, newer Metadata) Metadata {
	switch {
	case older.events == 0:
		return newer
	case newer.events == 0:
		return older
	}

	newer = newer.Remembering(&older)
	newer.flags |= older.flags & sawDestroy
	newer.events += older.events
	newer.firstVersion = older.firstVersion

	return newer
}

// Gone returns the metadata as a destroy of the same incarnation shows it: last labels, last phase.
func (m Metadata) Gone() Metadata {
	m.flags |= destroyed | sawDestroy
	m.events, m.firstVersion = 1, m.version

	return m
}

// Recreated returns the metadata marked as having been destroyed before it came to its present state.
func (m Metadata) Recreated() Metadata {
	m.flags |= sawDestroy

	return m
}

// Key returns the identity of the resource.
func (m *Metadata) Key() Key { return m.key }

// Namespace implements [resource.Pointer].
func (m *Metadata) Namespace() resource.Namespace { return m.key.Namespace }

// Type implements [resource.Pointer].
func (m *Metadata) Type() resource.Type { return m.key.Type }

// ID implements [resource.Pointer].
func (m *Metadata) ID() resource.ID { return m.key.ID }

// Phase returns the last phase seen; for a destroyed resource the phase it had when it was destroyed.
func (m *Metadata) Phase() resource.Phase { return resource.Phase(m.phase) }

// Labels returns the last labels seen; for a destroyed resource the labels it had when it was destroyed.
func (m *Metadata) Labels() *resource.Labels { return &m.labels }

// FinalizersEmpty tells whether no finalizer was left in the last state seen.
func (m *Metadata) FinalizersEmpty() bool { return m.flags&finalizersEmpty != 0 }

// Version returns the last version seen. Versions start again at 1 when a resource is created again.
func (m *Metadata) Version() uint64 { return m.version }

// Destroyed tells whether the resource was gone in the last state seen.
func (m *Metadata) Destroyed() bool { return m.flags&destroyed != 0 }

// DestroyReady tells whether an input that waits for resources ready to be destroyed is to be woken: the resource
// is tearing down without finalizers, or it was destroyed since the last delivery.
func (m *Metadata) DestroyReady() bool {
	return m.flags&sawDestroy != 0 || m.Phase() == resource.PhaseTearingDown && m.flags&finalizersEmpty != 0
}

// Causes sums up the events merged into this metadata.
func (m *Metadata) Causes() Causes { return Causes{Events: m.events, FirstVersion: m.firstVersion} }

// SameIncarnation tells whether both were seen of one life of the resource, between its creation and its destroy.
func (m *Metadata) SameIncarnation(other *Metadata) bool { return m.created == other.created }

// SameState tells whether both show the same version of the same life of the resource.
func (m *Metadata) SameState(other *Metadata) bool {
	return m.SameIncarnation(other) && m.version == other.version && m.Destroyed() == other.Destroyed()
}
