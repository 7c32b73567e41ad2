package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidwall/btree"
)

// ordered is what a cache needs of an ordered map.
type ordered interface {
	set(key string)
	delete(key string)
	get(key string) bool
	publish()
}

type ourMap struct {
	tree[any]

	published frozen[any]
}

func (m *ourMap) set(key string)    { m.tree.set(key, m) }
func (m *ourMap) delete(key string) { m.tree.delete(key) }
func (m *ourMap) publish()          { m.published = m.freeze() }

func (m *ourMap) get(key string) bool {
	_, there := m.tree.get(key)

	return there
}

type libraryMap struct{ now, published *btree.Map[string, any] }

func (m *libraryMap) set(key string)    { m.now.Set(key, m) }
func (m *libraryMap) delete(key string) { m.now.Delete(key) }
func (m *libraryMap) publish()          { m.published = m.now.Copy() }

func (m *libraryMap) get(key string) bool {
	_, there := m.now.Get(key)

	return there
}

// The tree beside a good one that is not made for this: one change of 100,000 keys, published by itself, and one lookup.
func BenchmarkTree(b *testing.B) {
	const n = 100_000

	keys := make([]string, n)

	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		keys[i] = fmt.Sprintf("machine-%06d", at)
	}

	maps := []struct {
		name string
		make func() ordered
	}{
		{"ours", func() ordered { return new(ourMap) }},
		{"library", func() ordered { return &libraryMap{now: btree.NewMap[string, any](16)} }},
	}

	for _, m := range maps {
		b.Run("change/"+m.name, func(b *testing.B) {
			all := m.make()
			for _, key := range keys {
				all.set(key)
			}

			i := 0

			b.ReportAllocs()

			for b.Loop() {
				key := keys[i%n]

				all.delete(key)
				all.publish()
				all.set(key)
				all.publish()

				i += 7919
			}

			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/change")
		})
	}

	for _, m := range maps {
		b.Run("lookup/"+m.name, func(b *testing.B) {
			all := m.make()
			for _, key := range keys {
				all.set(key)
			}

			i := 0

			for b.Loop() {
				if !all.get(keys[i%n]) {
					b.Fatal("it is missing")
				}

				i += 7919
			}
		})
	}
}
