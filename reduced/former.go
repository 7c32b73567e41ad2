package reduced

import (
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"
)

// MaxFormer is how many former label sets a [Metadata] holds at most.
const MaxFormer = 8

// former are the label sets that a resource had before the ones it has. Copies of a metadata share it, so it does not
// change once it was made.
type former struct {
	// sets are all different, in the order in which they were seen last. None of them is the present one.
	sets []resource.Labels
	// lost tells that there were more sets than may be held; none is then.
	lost bool
}

// tooMany is what all metadata share that have lost their former labels.
var tooMany = &former{lost: true}

// Remembering returns the metadata with the labels of an earlier state of its resource, and those that were former ones
// then, among its former labels. Labels that it has again are no former ones. When nothing was relabelled, it takes a
// comparison and no memory.
func (m Metadata) Remembering(older *Facts) Metadata {
	m.remember(older)

	return m
}

func (f *Facts) remember(older *Facts) {
	if older.former != nil || !sameLabels(&older.labels, &f.labels) {
		f.former = f.formerAfter(older)
	}
}

func (f *Facts) formerAfter(older *Facts) *former {
	// Both hold at most MaxFormer sets, and there are the labels of older.
	var seen [2*MaxFormer + 1]resource.Labels

	all := seen[:0]

	if older.former != nil {
		if older.former.lost {
			return tooMany
		}

		all = append(all, older.former.sets...)
	}

	all = append(all, older.labels)

	if f.former != nil {
		if f.former.lost {
			return tooMany
		}

		all = append(all, f.former.sets...)
	}

	var sets []resource.Labels

	// Where a set was seen last, it counts: so it does not matter in which order changes are merged.
	for i := range all {
		if !sameLabels(&all[i], &f.labels) && !contains(all[i+1:], &all[i]) {
			sets = append(sets, all[i])
		}
	}

	switch {
	case len(sets) == 0:
		return nil
	case len(sets) > MaxFormer:
		return tooMany
	default:
		return &former{sets: sets}
	}
}

// FormerLabels returns the label sets that the resource had since its former labels were last of interest to anybody, and
// has no more: all of them different, the one seen last at the end. With all false there were more than [MaxFormer],
// and none is returned. The slice is shared: do not write into it.
func (f *Facts) FormerLabels() (sets []resource.Labels, all bool) {
	if f.former == nil {
		return nil, true
	}

	return f.former.sets, !f.former.lost
}

// WithLabels returns the facts with other labels, and no former ones.
func (f Facts) WithLabels(labels resource.Labels) Facts {
	f.labels, f.former = labels, nil

	return f
}

func contains(sets []resource.Labels, labels *resource.Labels) bool {
	for i := range sets {
		if sameLabels(&sets[i], labels) {
			return true
		}
	}

	return false
}

// sameLabels compares two sets. Versions of a resource mostly share one map, and then nothing is looked up in it.
func sameLabels(a, b *resource.Labels) bool {
	return reflect.ValueOf(a.Raw()).UnsafePointer() == reflect.ValueOf(b.Raw()).UnsafePointer() || a.Equal(*b)
}
