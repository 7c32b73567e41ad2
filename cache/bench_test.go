package cache_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// numbers returns so many resources, and their ids.
func numbers(n int) ([]resource.ID, []resource.Resource) {
	ids := make([]resource.ID, n)
	resources := make([]resource.Resource, n)

	for i := range n {
		ids[i] = strconv.Itoa(i)
		resources[i] = number(ids[i], i)
	}

	return ids, resources
}

func BenchmarkGet(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ids, resources := numbers(n)
			c := started(resources...)
			i := 0

			b.ReportAllocs()

			for b.Loop() {
				if _, err := view(b, c).Get(ids[i%n]); err != nil {
					b.Fatal(err)
				}

				i += 7919
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, resources := numbers(n)
			c := started(resources...)

			b.ReportAllocs()

			for b.Loop() {
				if list := view(b, c).List(state.ListOptions{}); len(list.Items) != n {
					b.Fatal(len(list.Items))
				}
			}
		})
	}
}

// The time is that of one change, published by itself, as events come one by one.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ids, resources := numbers(n)
			c := started(resources...)
			i := 0

			b.ReportAllocs()

			for b.Loop() {
				c.Put(resources[i%n])
				c.Publish(ids[i%n])

				i += 7919
			}
		})
	}
}

// The time is that of all contents, in any order, published once.
func BenchmarkFill(b *testing.B) {
	_, resources := numbers(100_000)

	b.ReportAllocs()

	for b.Loop() {
		started(resources...)
	}
}
