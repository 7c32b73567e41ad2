package reduced

import (
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Change says what of a resource has changed, as a set. The zero value says nothing.
type Change uint8

// What may have changed.
const (
	ChangeCreated Change = 1 << iota
	ChangeSpec
	ChangeLabels
	ChangeAnnotations
	ChangePhase
	ChangeFinalizers
	ChangeDestroyed
	// ChangeListed is that events may have been missed, so that what has changed is not known: a list has shown what there
	// is now.
	ChangeListed
)

var changeNames = [...]string{"created", "spec", "labels", "annotations", "phase", "finalizers", "destroyed", "found by listing"}

// Names names all that has changed, in order. It is empty, and not nil, where nothing is said.
func (c Change) Names() []string { return NamesOf(uint8(c), changeNames[:]) }

// String is the names in a line.
func (c Change) String() string { return strings.Join(c.Names(), ", ") }

// NamesOf returns the names of what is in a set: bit i is for name i.
func NamesOf(set uint8, names []string) []string {
	all := make([]string, 0, bits.OnesCount8(set))

	for i, name := range names {
		if set&(1<<i) != 0 {
			all = append(all, name)
		}
	}

	return all
}

// Between returns what has changed between two versions of a resource, the earlier one first. An update that changes nothing
// of the metadata is taken for one of the spec, and the specs are not compared.
func Between(older, newer resource.Resource) (c Change) {
	if older == nil {
		return ChangeSpec
	}

	a, b := older.Metadata(), newer.Metadata()

	if !sameLabels(a.Labels(), b.Labels()) {
		c |= ChangeLabels
	}

	if !sameAnnotations(a.Annotations(), b.Annotations()) {
		c |= ChangeAnnotations
	}

	if a.Phase() != b.Phase() {
		c |= ChangePhase
	}

	if !slices.Equal(*a.Finalizers(), *b.Finalizers()) {
		c |= ChangeFinalizers
	}

	if c == 0 || !sameSpec(older, newer) {
		c |= ChangeSpec
	}

	return c
}

func sameAnnotations(a, b *resource.Annotations) bool {
	return reflect.ValueOf(a.Raw()).UnsafePointer() == reflect.ValueOf(b.Raw()).UnsafePointer() || a.Equal(*b)
}

// sameSpec compares two specs. One that can not be compared is another one: a watch that stumbled over it would never get
// past it.
func sameSpec(a, b resource.Resource) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()

	spec := a.Spec()

	if comparable, ok := spec.(interface{ Equal(any) bool }); ok {
		return comparable.Equal(b.Spec())
	}

	return reflect.DeepEqual(spec, b.Spec())
}

// Changed returns the metadata with what has changed, as one event showed it.
func (m Metadata) Changed(c Change) Metadata {
	m.changed = c

	return m
}

// Change returns what has changed, in all events that were merged.
func (f *Facts) Change() Change { return f.changed }

// Before returns the version that the resource had before the first of the events that were merged; 0 is that there was none.
func (f *Facts) Before() uint64 {
	if f.flags&beganGone != 0 {
		return f.firstVersion
	}

	return f.firstVersion - 1
}
