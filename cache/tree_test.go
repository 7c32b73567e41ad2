package cache

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// check fails unless the contents are those of the map, and the tree is as it has to be.
func check(t require.TestingT, f frozen[int], want map[string]int) {
	require.Equal(t, len(want), f.len())

	keys := make([]string, 0, len(want))

	require.True(t, f.scan(span{}, func(key string, value int) bool {
		if want[key] != value {
			require.Equal(t, want[key], value, key)
		}

		keys = append(keys, key)

		return true
	}))
	require.True(t, slices.Equal(slices.Sorted(maps.Keys(want)), keys))

	f.leaves(func(values []int) {
		for _, value := range values {
			require.Equal(t, want[keys[0]], value)

			keys = keys[1:]
		}
	})
	require.Empty(t, keys)

	keys = slices.Sorted(maps.Keys(want))

	for _, key := range keys {
		if got, there := f.get(key); !there || got != want[key] {
			require.Fail(t, "get", "%q: %v, %v", key, got, there)
		}
	}

	if f.root != nil {
		checkNode(t, f.root, span{})
	}
}

// checkNode fails unless a node is as it has to be, and returns how far it is from the leaves.
func checkNode(t require.TestingT, n *node[int], in span) (height int) {
	good := func(ok bool, what string) {
		if !ok {
			require.Fail(t, what, "%+v in %q", n, in)
		}
	}

	for i, key := range n.keys.of[:n.n] {
		if n.kids == nil || i > 0 {
			good(key >= in.from && in.holds(key), "a key is not in the range")
			good(n.skip == 0 || common(in.from, key) >= n.skip && common(in.to, key) >= n.skip, "a key does not begin as all do")
		}
	}

	for i, h := range n.heads {
		if key := n.keys.of[i]; i < int(n.n) {
			good(h == head(key, n.skip), "a head is not that of its key")
		} else {
			good(key == "" && h == none, "a key is kept that has gone")
		}
	}

	if n.kids == nil {
		good(int(n.size) == int(n.n) && n.vals != nil, "not a leaf")

		return 0
	}

	good(in.from == "" || n.keys.of[0] == in.from, "a range does not begin where it should")

	size := int32(0)

	for i, kid := range n.kids[:n.n] {
		h := checkNode(t, kid, n.below(i, in)) + 1
		good(i == 0 || h == height, "leaves are not all on one level")

		height, size = h, size+kid.size
	}

	for _, kid := range n.kids[n.n:] {
		good(kid == nil, "a node is kept that has gone")
	}

	good(n.size == size && n.vals == nil, "not an inner node")

	return height
}

// someKeys draws keys that are alike in many ways: short and long, with much or nothing in common, with zero bytes.
func someKeys(t *rapid.T) *rapid.Generator[string] {
	prefix := rapid.SampledFrom([]string{"", "machine-", "a-prefix-of-more-than-sixteen-bytes-", "\x00", "\xff\xff", strings.Repeat("\xff", 9)})
	rest := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', '0', 0, 0x10ffff}), 0, 12, -1)

	return rapid.Custom(func(t *rapid.T) string { return prefix.Draw(t, "prefix") + rest.Draw(t, "rest") })
}

// A tree does what a map does, in order, and what was frozen stays.
func TestTreeFollowsAMap(t *testing.T) {
	t.Parallel()

	type moment struct {
		frozen frozen[int]
		want   map[string]int
	}

	rapid.Check(t, func(t *rapid.T) {
		var (
			tr      tree[int]
			model   = map[string]int{}
			moments []moment
			keys    = someKeys(t)
		)

		set := func(key string, value int) {
			old, replaced := tr.set(key, value)
			before, there := model[key]

			require.Equal(t, there, replaced)
			require.Equal(t, before, old)

			model[key] = value
		}

		remove := func(key string) {
			old, gone := tr.delete(key)
			before, there := model[key]

			require.Equal(t, there, gone)
			require.Equal(t, before, old)
			delete(model, key)
		}

		t.Repeat(map[string]func(*rapid.T){
			"set":    func(t *rapid.T) { set(keys.Draw(t, "key"), rapid.Int().Draw(t, "value")) },
			"delete": func(t *rapid.T) { remove(keys.Draw(t, "key")) },
			"set many": func(t *rapid.T) {
				prefix := keys.Draw(t, "prefix")

				for _, i := range rand.New(rand.NewPCG(0, rapid.Uint64().Draw(t, "seed"))).Perm(200) {
					set(fmt.Sprint(prefix, i), i)
				}
			},
			"delete many": func(t *rapid.T) {
				all := slices.Sorted(maps.Keys(model))
				from := rapid.IntRange(0, len(all)).Draw(t, "from")
				to := rapid.IntRange(from, len(all)).Draw(t, "to")

				for _, key := range all[from:to] {
					remove(key)
				}
			},
			"freeze": func(*rapid.T) { moments = append(moments, moment{tr.freeze(), maps.Clone(model)}) },
			"ranges": func(t *rapid.T) {
				s := span{keys.Draw(t, "from"), keys.Draw(t, "to")}

				var want, got []string

				for _, key := range slices.Sorted(maps.Keys(model)) {
					if key >= s.from && s.holds(key) {
						want = append(want, key)
					}
				}

				tr.scan(s, func(key string, _ int) bool {
					got = append(got, key)

					return true
				})

				require.Equal(t, want, got)
				require.Equal(t, len(want), tr.count(s))
			},
			"look": func(t *rapid.T) { check(t, tr.frozen, model) },
		})

		for _, m := range append(moments, moment{tr.freeze(), model}) {
			check(t, m.frozen, m.want)
		}
	})
}

func TestHeadsAreInOrder(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		keys := someKeys(t)
		a, b := keys.Draw(t, "a"), keys.Draw(t, "b")
		skip := uint16(rapid.IntRange(0, int(common(a, b))).Draw(t, "skip"))

		if c := cmp.Compare(head(a, skip), head(b, skip)); c != 0 {
			require.Equal(t, strings.Compare(a, b), c)
		}
	})
}

// What comes in order leaves no room in the nodes that nothing will fill.
func TestKeysInOrderFillTheirNodes(t *testing.T) {
	t.Parallel()

	var tr tree[int]

	for i := range 10_000 {
		tr.set(fmt.Sprintf("%05d", i), i)
	}

	leaves := 0

	var walk func(n *node[int])
	walk = func(n *node[int]) {
		if n.kids == nil {
			leaves++

			return
		}

		for _, kid := range n.kids[:n.n] {
			walk(kid)
		}
	}

	walk(tr.root)
	require.Equal(t, (10_000+width-1)/width, leaves)
}

// A tree that has held many keys costs no more than one that has not.
func TestTreeShrinks(t *testing.T) {
	t.Parallel()

	for name, order := range map[string]func(n int) []int{
		"in order":          func(n int) []int { return slices.Collect(numbersFrom(0, n, 1)) },
		"against the order": func(n int) []int { return slices.Collect(numbersFrom(n-1, n, -1)) },
		"in any order":      rand.New(rand.NewPCG(1, 1)).Perm,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			const n = 10_000

			var tr tree[int]

			gone := order(n)

			for i := range n {
				tr.set(fmt.Sprintf("%05d", i), i)
			}

			for i, at := range gone[:n-10] {
				tr.delete(fmt.Sprintf("%05d", at))

				if i%100 == 0 {
					tr.freeze()
				}
			}

			nodes, want := 0, map[string]int{}

			var walk func(n *node[int])
			walk = func(n *node[int]) {
				nodes++

				if n.kids != nil {
					for _, kid := range n.kids[:n.n] {
						walk(kid)
					}
				}
			}

			walk(tr.root)

			for _, at := range gone[n-10:] {
				want[fmt.Sprintf("%05d", at)] = at
			}

			check(t, tr.frozen, want)
			require.Less(t, nodes, 12)
		})
	}
}

// numbersFrom yields so many numbers.
func numbersFrom(first, n, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(first + i*step) {
				return
			}
		}
	}
}

func TestScanStops(t *testing.T) {
	t.Parallel()

	var tr tree[int]

	for i := range 1_000 {
		tr.set(fmt.Sprintf("%05d", i), i)
	}

	seen := 0

	require.False(t, tr.scan(span{from: "00100"}, func(_ string, value int) bool {
		require.Equal(t, 100+seen, value)

		seen++

		return seen < 50
	}))
	require.Equal(t, 50, seen)
}

func TestEmptyTree(t *testing.T) {
	t.Parallel()

	var tr tree[int]

	_, there := tr.get("a")
	require.False(t, there)

	_, there = tr.delete("a")
	require.False(t, there)
	require.Zero(t, tr.count(span{"a", "b"}))
	require.True(t, tr.scan(span{}, nil))

	tr.set("", 1)
	check(t, tr.frozen, map[string]int{"": 1})
	tr.delete("")
	check(t, tr.frozen, map[string]int{})
}
