package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/stateadapter"
)

func cacheWorkloads() []*workload {
	return []*workload{
		{
			name: "cache-get-100000", what: "Get of one of 100,000 cached resources, in random order",
			unit: "get", size: 100_000, quick: 5_000, grows: true, single: true, target: 1.5, run: cacheGet(1), floor: cacheGetFloor(1),
		},
		{
			name: "cache-get-100000-8", what: "the same by eight goroutines",
			unit: "get", size: 100_000, quick: 5_000, target: 2.5, run: cacheGet(8), floor: cacheGetFloor(8),
		},
		{
			name: "cache-get-missing", what: "Get of a resource that is not among 100,000 cached ones",
			unit: "get", size: 100_000, quick: 5_000, grows: true, single: true, target: 5, run: cacheGetMissing, floor: cacheGetMissingFloor,
		},
		{
			name: "cache-list-label", what: "List of 10 of 100,000 cached resources by an equal label",
			unit: "list", size: 100_000, quick: 5_000, grows: true, single: true, target: 400,
			run: cacheList(state.WithLabelQuery(resource.LabelEqual("group", "group-1"))), floor: cacheListFloor(10),
		},
		{
			name: "cache-list-id-anchored", what: "List of 10 of 100,000 cached resources by an anchored expression on the id",
			unit: "list", size: 100_000, quick: 5_000, grows: true, single: true, target: 300,
			run: cacheList(state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^item-0000001")))), floor: cacheListFloor(10),
		},
		{
			name: "cache-list-all", what: "List of all of 100,000 cached resources",
			unit: "list", size: 100_000, quick: 5_000, grows: true, single: true, target: 1.1, run: cacheList(), floor: cacheListFloor(0),
		},
		{
			name: "cache-view-all", what: "a look at all of 100,000 cached resources: a shared view where there is one, else a List",
			unit: "look", size: 100_000, quick: 5_000, grows: true, single: true, target: 50, run: cacheView,
		},
	}
}

// cachedItems is the option that has items cached.
func cachedItems() options.Option { return options.WithCachedResource(namespace, itemType) }

// cached starts an engine over so many cached items and returns what a controller reads them through.
func (t *trial) cached(items []*item) (*rig, controller.Runtime) {
	r := t.rig(1, cachedItems())
	borrow := r.borrow(input(itemType, controller.InputWeak))

	r.create(items...)
	r.start()

	reader := borrow()

	// The first read waits until the cache is filled.
	_, err := reader.Get(t.ctx, pointer(itemType, itemID(0)))
	t.check(err)

	return r, reader
}

// pointers returns pointers to items in random order, which is the same in each round.
func pointers(count int, id func(number int) resource.ID) []resource.Pointer {
	all := make([]resource.Pointer, count)
	for i, number := range permutation(count) {
		all[i] = pointer(itemType, id(number))
	}

	return all
}

// permutation returns the numbers below count in random order, which is the same in each round.
func permutation(count int) []int { return rand.New(rand.NewPCG(6, 4)).Perm(count) }

// gets is how many reads are timed.
const gets = 400_000

// getAll reads in random order, from so many goroutines.
func (t *trial) getAll(readers int, targets []resource.Pointer, get func(resource.Pointer) error) {
	count := min(gets, 40*len(targets))

	t.measure(count/readers*readers, func() {
		var all sync.WaitGroup

		for reader := range readers {
			all.Go(func() {
				at := reader * len(targets) / readers

				for range count / readers {
					if err := get(targets[at]); err != nil {
						t.fail(err)

						return
					}

					if at++; at == len(targets) {
						at = 0
					}
				}
			})
		}

		all.Wait()
		t.check(context.Cause(t.ctx))
	})
}

func cacheGet(readers int) func(*trial) {
	return func(t *trial) {
		_, reader := t.cached(newItems(itemType, t.size))

		t.getAll(readers, pointers(t.size, itemID), func(ptr resource.Pointer) error {
			_, err := reader.Get(t.ctx, ptr)

			return err
		})
	}
}

// cacheGetFloor is a look-up in a map and one deep copy.
func cacheGetFloor(readers int) func(*trial) {
	return func(t *trial) {
		all := map[resource.ID]resource.Resource{}
		for _, res := range newItems(itemType, t.size) {
			all[res.Metadata().ID()] = res
		}

		t.getAll(readers, pointers(t.size, itemID), func(ptr resource.Pointer) error {
			keep(all[ptr.ID()].DeepCopy())

			return nil
		})
	}
}

// kept is where results go that nobody reads, so that the compiler can not leave out how they come about.
var kept atomic.Bool

func keep(res resource.Resource) {
	if res == nil {
		kept.Store(true)
	}
}

// missing returns ids beside those of items.
func missing(number int) resource.ID { return itemID(number) + "-missing" }

func cacheGetMissing(t *trial) {
	_, reader := t.cached(newItems(itemType, t.size))

	t.getAll(1, pointers(t.size, missing), func(ptr resource.Pointer) error {
		if _, err := reader.Get(t.ctx, ptr); !state.IsNotFoundError(err) {
			return fmt.Errorf("a resource that is not there was read: %w", err)
		}

		return nil
	})
}

// cacheGetMissingFloor is a look-up in a map.
func cacheGetMissingFloor(t *trial) {
	all := map[resource.ID]resource.Resource{}
	for _, res := range newItems(itemType, t.size) {
		all[res.Metadata().ID()] = res
	}

	t.getAll(1, pointers(t.size, missing), func(ptr resource.Pointer) error {
		if res, there := all[ptr.ID()]; there {
			return fmt.Errorf("%s is there", res.Metadata())
		}

		return nil
	})
}

// listFor is for how long lists are repeated, so that one that takes a microsecond is timed as well as one that takes a
// tenth of a second.
func listFor(size int) time.Duration {
	return min(500*time.Millisecond, time.Duration(size)*5*time.Microsecond)
}

// lists times a list: for a while to see how many fit into the time, then as many.
func (t *trial) lists(list func()) {
	count, began := 0, time.Now()
	for count == 0 || time.Since(began) < listFor(t.size)/5 {
		list()

		count++
	}

	count *= 5

	t.measure(count, func() {
		for range count {
			list()
		}
	})
}

func cacheList(opts ...state.ListOption) func(*trial) {
	return func(t *trial) {
		_, reader := t.cached(newItems(itemType, t.size))
		want := min(10, max(t.size-10, 0))

		if len(opts) == 0 {
			want = t.size
		}

		t.lists(func() {
			list, err := reader.List(t.ctx, kind(itemType), opts...)
			t.check(err)

			if len(list.Items) != want {
				t.check(fmt.Errorf("%d items listed, not %d", len(list.Items), want))
			}
		})
	}
}

// cacheView looks at all items, in the way that copies the least.
func cacheView(t *trial) {
	_, reader := t.cached(newItems(itemType, t.size))

	t.lists(func() {
		seen := 0

		if viewer, ok := reader.(stateadapter.Viewer); ok {
			view, err := viewer.View(t.ctx, kind(itemType))
			t.check(err)

			for res := range view.All() {
				keep(res)

				seen++
			}
		} else {
			list, err := reader.List(t.ctx, kind(itemType))
			t.check(err)

			seen = len(list.Items)
		}

		if seen != t.size {
			t.check(fmt.Errorf("%d items seen, not %d", seen, t.size))
		}
	})
}

// cacheListFloor is deep copies of so many items, or of all, as the state's own watch has handed them over. The state is
// there as well, since the collector has to go through what it holds.
func cacheListFloor(count int) func(*trial) {
	return func(t *trial) {
		items := t.handedOver()
		if count > 0 {
			items = items[:count]
		}

		t.lists(func() {
			list := resource.List{Items: make([]resource.Resource, 0, len(items))}
			for _, res := range items {
				list.Items = append(list.Items, res.DeepCopy())
			}

			keep(list.Items[0])
		})
	}
}

// handedOver puts items into a state, and returns what its watch has shown, in order of id.
func (t *trial) handedOver() []resource.Resource {
	st := newState(1)
	shown := make([]resource.Resource, 0, t.size)
	complete := make(chan struct{})

	create(t, st, newItems(itemType, t.size)...)
	t.follow(st, itemType, true, func(event state.Event) {
		switch event.Type {
		case state.Created:
			shown = append(shown, event.Resource)
		case state.Bootstrapped:
			close(complete)
		}
	})
	t.wait(complete)

	return shown
}
