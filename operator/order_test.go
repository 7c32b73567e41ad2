package operator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// edges are what comes after what: "b<a" is that b comes after a.
func orderOf(nodes string, edges ...string) ([]string, error) {
	deps := map[string][]string{}

	for _, edge := range edges {
		node, dep, _ := strings.Cut(edge, "<")
		deps[node] = append(deps[node], dep)
	}

	return uniqueOrder(strings.Fields(nodes), func(n string) []string { return deps[n] }, func(n string) string { return n })
}

func TestUniqueOrder(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		nodes string
		edges []string
		want  string
		err   string
	}{
		{nodes: "", want: ""},
		{nodes: "a", want: "a"},
		{nodes: "c b a", edges: []string{"b<a", "c<b"}, want: "a b c"},
		{nodes: "a b c", edges: []string{"b<a", "c<b", "c<a"}, want: "a b c"},
		{nodes: "a b", err: `"a" and "b" could each be next`},
		{nodes: "a b c d", edges: []string{"b<a", "c<a", "d<a"}, err: `"b", "c" and "d" could each be next`},
		{nodes: "a", edges: []string{"a<a"}, err: `a cycle: "a" comes after "a"`},
		{nodes: "a b c d", edges: []string{"b<d", "c<b", "d<c", "b<a"}, err: `a cycle: "b" comes after "d" comes after "c" comes after "b"`},
		{nodes: "a", edges: []string{"a<x"}, err: `"a" comes after "x", which is not registered here`},
	} {
		order, err := orderOf(test.nodes, test.edges...)
		if test.err != "" {
			require.ErrorContains(t, err, test.err)

			continue
		}

		require.NoError(t, err)
		require.Equal(t, test.want, strings.Join(order, " "))
	}
}

// An order is returned exactly if it is the only one, which is then a path through all nodes, and whatever the nodes were given
// in.
func TestUniqueOrderIsTheOnlyOne(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "nodes")
		after := map[int][]int{}

		for a := range n {
			for b := range a {
				if rapid.IntRange(0, 3).Draw(t, "edge") > 0 {
					after[a] = append(after[a], b)
				}
			}
		}

		unique := true
		for a := 1; a < n; a++ {
			unique = unique && slices.Contains(after[a], a-1)
		}

		nodes := rapid.Permutation(numbersTo(n)).Draw(t, "given")
		order, err := uniqueOrder(nodes, func(n int) []int { return after[n] }, func(n int) string { return fmt.Sprint(n) })
		require.Equal(t, unique, err == nil)

		if unique {
			require.Equal(t, numbersTo(n), order)
		}
	})
}

func numbersTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}

	return all
}
