package cache_test

import (
	"runtime"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
)

// These tests measure, so none of them is parallel to any other.

// heapInUse returns how much memory is reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC()

	var stats runtime.MemStats

	runtime.ReadMemStats(&stats)

	return int64(stats.HeapAlloc)
}

// A cached resource costs little beside itself, and a label that is asked for no more than that again.
func TestMemoryOfACachedResource(t *testing.T) {
	const n = 50_000

	resources := machines(n)

	for name, test := range map[string]struct {
		order []resource.Resource
		most  int64
	}{
		"in order":     {resources, 60},
		"in any order": {shuffled(resources), 100},
	} {
		t.Run(name, func(t *testing.T) {
			before := heapInUse()
			c := started()

			for _, res := range test.order {
				c.Put(res)
				c.Publish()
			}

			cached := heapInUse()

			require.Len(t, view(t, c).List(byLabel("group", "7")).Items, 10)

			indexed := heapInUse()

			t.Logf("%d bytes a resource, and %d of an index", (cached-before)/n, (indexed-cached)/n)
			require.Less(t, (cached-before)/n, test.most)
			require.Less(t, (indexed-cached)/n, int64(120))
			require.Equal(t, n, c.Len())

			for _, res := range test.order[10:] {
				c.Delete(res.Metadata().ID())
			}

			c.Publish()
			require.Less(t, heapInUse()-before, int64(32<<10), "what has gone costs nothing")
			runtime.KeepAlive(c)
		})
	}

	runtime.KeepAlive(resources)
}

// Reads allocate for what they return, and an error is one allocation.
func TestReadsAllocateLittle(t *testing.T) {
	resources := machines(10_000)
	c := started(shuffled(resources)...)
	copied := testing.AllocsPerRun(100, func() { resources[0].DeepCopy() })
	id := resources[7].Metadata().ID()

	for name, test := range map[string]struct {
		read func(v cache.View)
		most float64
	}{
		"Get":          {func(v cache.View) { _, _ = v.Get(id) }, copied},
		"Get, missing": {func(v cache.View) { _, _ = v.Get("none") }, 1},
		"Lend":         {func(v cache.View) { v.Lend(id) }, 0},
		"List":         {func(v cache.View) { v.List(state.ListOptions{}) }, 10_000*copied + 10},
		"All": {func(v cache.View) {
			for range v.All() {
			}
		}, 10},
		"Prefix": {func(v cache.View) {
			for range v.Prefix("rack-00005") {
			}
		}, 20},
	} {
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { test.read(view(t, c)) }), test.most, name)
	}
}
