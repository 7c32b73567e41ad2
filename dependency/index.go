package dependency

import (
	"sync"
	"sync/atomic"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// kindIndex is the reverse look-up for one kind.
type kindIndex[T any] struct {
	// wakes holds the weak and strong inputs on the kind as a whole, which need to hear once of any number of changes;
	// whole holds the other inputs on the whole kind.
	wakes, whole list[T]
	ids          sync.Map // resource.ID to *list[T]; written under Database.mu, read without.
	byID         atomic.Int64

	// changes counts what was added, each after it is in force, and what was taken away, each before it is hidden, for
	// the router to see that it walks beside a change.
	changes atomic.Uint64
	// left tells that there are no inputs any more, and that another index will be made for the next one.
	left atomic.Bool

	// woken is the batch in which wakes was walked last, and wokenAt what changes was then; owned by whoever routes.
	woken, wokenAt uint64

	// inputs counts the inputs on the kind, tracked those of them that need its known keys; guarded by Database.mu.
	inputs  int
	tracked int
}

func (db *Database[T]) index(kind reduced.Kind) *kindIndex[T] {
	index, ok := db.kinds.Load(kind)
	if !ok {
		return nil
	}

	return index.(*kindIndex[T])
}

func (db *Database[T]) link(d *dependent[T]) {
	kind := d.kind()

	index := db.index(kind)
	if index == nil {
		index = &kindIndex[T]{}
		db.kinds.Store(kind, index)
	}

	index.inputs++

	if tracks(d.input.Kind) {
		index.tracked++
	}

	entries := index.listOf(d)

	if id, byID := d.input.ID.Get(); byID {
		index.byID.Add(1)

		if entries == nil {
			entries = &list[T]{}
			index.ids.Store(id, entries)
		}
	}

	entries.add(d)
	index.changes.Add(1)
}

func (db *Database[T]) unlink(d *dependent[T]) {
	kind := d.kind()
	index := db.index(kind)
	index.inputs--

	if tracks(d.input.Kind) {
		index.tracked--
	}

	index.changes.Add(1)

	entries := index.listOf(d)
	entries.remove(d)

	if id, byID := d.input.ID.Get(); byID {
		index.byID.Add(-1)

		if entries.empty() {
			index.ids.Delete(id)
		}
	}

	if index.inputs == 0 {
		index.left.Store(true)
		db.kinds.Delete(kind)
	}
}

// listOf returns the list that the input belongs into, or nil where it would be the first by its id.
func (index *kindIndex[T]) listOf(d *dependent[T]) *list[T] {
	if id, byID := d.input.ID.Get(); byID {
		ids, ok := index.ids.Load(id)
		if !ok {
			return nil
		}

		return ids.(*list[T])
	}

	if tracks(d.input.Kind) {
		return &index.whole
	}

	return &index.wakes
}

func tracks(kind controller.InputKind) bool {
	return kind != controller.InputWeak && kind != controller.InputStrong
}
