package cache_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
)

// sizes are how many resources of a kind are measured with.
var sizes = []int{1_000, 100_000}

// machines returns so many resources, in order of id. Ten of them have the same group, and a hundred the same rack,
// by which their ids begin; all have the same role.
func machines(n int) []resource.Resource {
	all := make([]resource.Resource, n)

	for i := range all {
		rack := fmt.Sprintf("rack-%05d", i/100)
		all[i] = labelled(fmt.Sprintf("%s-machine-%06d", rack, i), i, "group", fmt.Sprint(i%max(1, n/10)), "role", "worker", "rack", rack)
	}

	return all
}

// shuffled returns them in any order, which is the same each time.
func shuffled(resources []resource.Resource) []resource.Resource {
	all := make([]resource.Resource, len(resources))

	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(len(resources)) {
		all[i] = resources[at]
	}

	return all
}

// newest is view without checks, which would cost more than what is measured.
func newest(c *cache.Collection) cache.View {
	v, _, _ := c.View(context.Background(), "bench")

	return v
}

// bySize measures a collection of each size.
func bySize(b *testing.B, measure func(b *testing.B, c *cache.Collection, resources []resource.Resource)) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			resources := machines(n)
			c := started(shuffled(resources)...)

			b.ReportAllocs()

			measure(b, c, resources)
		})
	}
}

// What a resource is copied for, and nothing else, is the least that Get and List may cost.
func BenchmarkDeepCopy(b *testing.B) {
	bySize(b, func(b *testing.B, _ *cache.Collection, resources []resource.Resource) {
		i := 0

		for b.Loop() {
			_ = resources[i%len(resources)].DeepCopy()
			i += 7919
		}
	})
}

func BenchmarkGet(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		i := 0

		for b.Loop() {
			if _, err := newest(c).Get(resources[i%len(resources)].Metadata().ID()); err != nil {
				b.Fatal(err)
			}

			i += 7919
		}
	})
}

func BenchmarkGetMissing(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		ids := make([]resource.ID, 1<<10)
		for i := range ids {
			ids[i] = resources[i*7919%len(resources)].Metadata().ID() + "x"
		}

		i := 0

		for b.Loop() {
			if _, err := newest(c).Get(ids[i%len(ids)]); err == nil {
				b.Fatal("it is there")
			}

			i++
		}
	})
}

func BenchmarkGetInParallel(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			i := 0

			for pb.Next() {
				if _, err := newest(c).Get(resources[i%len(resources)].Metadata().ID()); err != nil {
					b.Error(err)
				}

				i += 7919
			}
		})
	})
}

func BenchmarkLend(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		i := 0

		for b.Loop() {
			if _, ok := newest(c).Lend(resources[i%len(resources)].Metadata().ID()); !ok {
				b.Fatal("it is missing")
			}

			i += 7919
		}
	})
}

// queries are what is asked for, with how many resources match of so many.
func queries(n int) map[string]struct {
	options []state.ListOption
	want    int
} {
	byLabel := func(term ...resource.LabelQueryOption) []state.ListOption {
		return []state.ListOption{state.WithLabelQuery(term...)}
	}
	byID := func(expression string) []state.ListOption {
		return []state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile(expression)))}
	}

	type query = struct {
		options []state.ListOption
		want    int
	}

	return map[string]struct {
		options []state.ListOption
		want    int
	}{
		"all":               {nil, n},
		"label":             query{byLabel(resource.LabelEqual("group", "7")), 10},
		"label of two":      query{byLabel(resource.LabelEqual("role", "worker"), resource.LabelEqual("group", "7")), 10},
		"label that is not": query{byLabel(resource.LabelEqual("group", "none")), 0},
		"beginning":         query{byID("^rack-00005-machine-00050"), 10},
		"beginnings":        query{byID("^rack-0000(3|5)-machine-000[35]0"), 20},
		"id":                query{byID("^rack-00005-machine-000500$"), 1},
		"id, anywhere":      query{byID("-machine-00050"), 10},
	}
}

func BenchmarkList(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		for name, query := range queries(len(resources)) {
			b.Run(name, func(b *testing.B) {
				opts, _ := cache.ServesList(query.options)

				for range 3 {
					newest(c).List(opts) // builds an index
				}

				b.ReportAllocs()

				for b.Loop() {
					if list := newest(c).List(opts); len(list.Items) != query.want {
						b.Fatal(len(list.Items))
					}
				}
			})
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		patched := func(v cache.View) cache.View {
			return v.With(cache.Patch{ID: "rack-00001"}, cache.Patch{ID: "rack-00002", Resource: resources[0]}, cache.Patch{ID: "rack-00002x"})
		}

		loops := map[string]func() iter.Seq[resource.Resource]{
			"all":          func() iter.Seq[resource.Resource] { return newest(c).All() },
			"all, patched": func() iter.Seq[resource.Resource] { return patched(newest(c)).All() },
			"prefix":       func() iter.Seq[resource.Resource] { return newest(c).Prefix("rack-00005-machine-00050") },
		}

		for name, query := range queries(len(resources)) {
			if opts, _ := cache.ServesList(query.options); name != "all" {
				loops[name] = func() iter.Seq[resource.Resource] { return newest(c).Match(opts) }
			}
		}

		for name, loop := range loops {
			b.Run(name, func(b *testing.B) {
				for range 3 {
					for range loop() { // builds an index
						break
					}
				}

				b.ReportAllocs()

				for b.Loop() {
					for range loop() {
					}
				}
			})
		}
	})
}

// The time is that of one change: all are created and destroyed in any order, and so many are published at once.
func BenchmarkPublish(b *testing.B) {
	const n = 100_000

	for _, indexed := range []bool{false, true} {
		for _, batch := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("indexed=%t/%d", indexed, batch), func(b *testing.B) {
				resources := shuffled(machines(n))
				opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("group", "7"))})

				b.ReportAllocs()

				for b.Loop() {
					c := started(resources[:n/2]...)

					if indexed {
						newest(c).List(opts)
					}

					for i, res := range resources[n/2:] {
						c.Put(res)

						if i%batch == 0 {
							c.Publish()
						}
					}

					for i, res := range resources {
						id := res.Metadata().ID()
						c.Delete(id)

						if i%batch == 0 {
							c.Publish(id)
						}
					}
				}

				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1.5*n), "ns/change")
			})
		}
	}
}

// The time is that of one update that is published by itself, as events come one by one.
func BenchmarkUpdate(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		i := 0

		for b.Loop() {
			c.Put(resources[i%len(resources)])
			c.Publish()

			i += 7919
		}
	})
}

// The time is that of one of the first contents, which come in order.
func BenchmarkLoad(b *testing.B) {
	const n = 100_000

	resources := machines(n)

	b.ReportAllocs()

	for b.Loop() {
		started(resources...)
	}

	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/resource")
}

// The time is that of the first query by a label.
func BenchmarkIndex(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		opts, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("group", "7"))})

		for b.Loop() {
			b.StopTimer()

			c := started(resources...)

			b.StartTimer()
			newest(c).List(opts)
		}
	})
}

// Reads while the writer is at work all the time.
func BenchmarkGetBesideAWriter(b *testing.B) {
	bySize(b, func(b *testing.B, c *cache.Collection, resources []resource.Resource) {
		ctx, cancel := context.WithCancel(b.Context())
		done := make(chan struct{})

		go func() {
			defer close(done)

			for i := 0; ctx.Err() == nil; i += 7919 {
				c.Put(resources[i%len(resources)])
				c.Publish()
			}
		}()

		i := 0

		for b.Loop() {
			if _, err := newest(c).Get(resources[i%len(resources)].Metadata().ID()); err != nil {
				b.Fatal(err)
			}

			i += 7919
		}

		cancel()
		<-done
	})
}
