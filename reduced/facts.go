package reduced

import "github.com/cosi-project/runtime/pkg/resource"

// Facts are what is known of a resource beside which one it is: the last state seen, and what was merged into it on the
// way.
//
// The zero value is no facts. The label set is shared with the resource it was taken from: read it, never write into its
// raw map.
type Facts struct {
	labels       resource.Labels
	former       *former // nil is none
	version      uint64
	created      int64
	firstVersion uint64
	events       uint32
	phase        uint8
	flags        flags
	changed      Change
}

type flags uint8

const (
	finalizersEmpty flags = 1 << iota
	destroyed
	sawDestroy
	missed
	own
	beganGone // the first event was a destroy
)

// Causes sums up the events that were merged while they waited to be delivered.
type Causes struct {
	// Events is how many events were merged, at least one for a delivered change.
	Events uint32
	// FirstVersion is the version that the first merged event carried.
	FirstVersion uint64
}

// MergeFacts returns newer with what older carried and a later event must not hide: that the resource was destroyed in
// between, labels that it has no more, and the causes. Both must be about one resource, older the earlier of the two;
// where one is no facts at all, the other is returned.
func MergeFacts(older, newer Facts) Facts {
	switch {
	case older.events == 0:
		return newer
	case newer.events == 0:
		return older
	}

	newer.remember(&older)
	newer.flags |= older.flags & (sawDestroy | missed)
	newer.flags = newer.flags&^beganGone | older.flags&beganGone
	newer.changed |= older.changed

	if newer.created != older.created {
		newer.changed |= ChangeDestroyed // which nobody may have seen
	}

	newer.flags &= older.flags | ^own
	newer.events += older.events
	newer.firstVersion = older.firstVersion

	return newer
}

// About returns the metadata of a resource of which the facts are known.
func About(key Key, facts Facts) Metadata { return Metadata{key, facts} }

// Phase returns the last phase seen; for a destroyed resource the phase it had when it was destroyed.
func (f *Facts) Phase() resource.Phase { return resource.Phase(f.phase) }

// Labels returns the last labels seen; for a destroyed resource the labels it had when it was destroyed.
func (f *Facts) Labels() *resource.Labels { return &f.labels }

// FinalizersEmpty tells whether no finalizer was left in the last state seen.
func (f *Facts) FinalizersEmpty() bool { return f.flags&finalizersEmpty != 0 }

// Version returns the last version seen. Versions start again at 1 when a resource is created again.
func (f *Facts) Version() uint64 { return f.version }

// Created returns when the present life of the resource began, in nanoseconds since 1970.
func (f *Facts) Created() int64 { return f.created }

// Destroyed tells whether the resource was gone in the last state seen.
func (f *Facts) Destroyed() bool { return f.flags&destroyed != 0 }

// DestroyReady tells whether an input that waits for resources ready to be destroyed is to be woken: the resource
// is tearing down without finalizers, or it was destroyed since the last delivery.
func (f *Facts) DestroyReady() bool {
	return f.flags&sawDestroy != 0 || f.Phase() == resource.PhaseTearingDown && f.flags&finalizersEmpty != 0
}

// SawDestroy tells whether the resource was destroyed since the last delivery, whatever it is now.
func (f *Facts) SawDestroy() bool { return f.flags&sawDestroy != 0 }

// Missed tells whether some of the events may not have been seen, because the state had to be listed.
func (f *Facts) Missed() bool { return f.flags&missed != 0 }

// Own tells whether all that was merged was done by the controller that is told of it.
func (f *Facts) Own() bool { return f.flags&own != 0 }

// AsOwn returns the facts as what the controller that is told of it has done itself. Merged with what somebody else has
// done, they are that no more.
func (f Facts) AsOwn() Facts {
	f.flags |= own

	return f
}

// Causes sums up the events merged into this metadata.
func (f *Facts) Causes() Causes { return Causes{Events: f.events, FirstVersion: f.firstVersion} }

// SameIncarnation tells whether both were seen of one life of the resource, between its creation and its destroy.
func (f *Facts) SameIncarnation(other *Facts) bool { return f.created == other.created }

// SameState tells whether both show the same version of the same life of the resource. Two lives that began within one tick
// of the state's clock are told apart by whatever else the facts hold.
func (f *Facts) SameState(other *Facts) bool {
	const state = finalizersEmpty | destroyed

	return f.SameIncarnation(other) && f.version == other.version && f.phase == other.phase &&
		f.flags&state == other.flags&state && sameLabels(&f.labels, &other.labels)
}
