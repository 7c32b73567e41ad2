package operator

import (
	"fmt"
	"strings"
)

// orderError says why nodes have no order, or more than one.
type orderError struct{ problem string }

func (e *orderError) Error() string { return e.problem }

// uniqueOrder returns the nodes in the one order in which each comes after all that it depends on. An order that is not the only
// one is an error: whoever wants one thing before another has to say so, and the order in which nodes were given does not.
// All nodes are different; a node that depends on itself is a cycle.
func uniqueOrder[N comparable](nodes []N, deps func(N) []N, name func(N) string) ([]N, error) {
	known := map[N]bool{}
	for _, n := range nodes {
		known[n] = true
	}

	for _, n := range nodes {
		for _, dep := range deps(n) {
			if !known[dep] {
				return nil, &orderError{fmt.Sprintf("%q comes after %q, which is not registered here", name(n), name(dep))}
			}
		}
	}

	order := make([]N, 0, len(nodes))
	done := map[N]bool{}

	for len(order) < len(nodes) {
		var ready []N

		for _, n := range nodes {
			if !done[n] && allDone(deps(n), done) {
				ready = append(ready, n)
			}
		}

		switch len(ready) {
		case 0:
			return nil, &orderError{"there is a cycle: " + cycle(nodes, deps, name, done)}
		case 1:
			order = append(order, ready[0])
			done[ready[0]] = true
		default:
			return nil, &orderError{fmt.Sprintf("%s could each be next: say which comes after which", quoted(ready, name))}
		}
	}

	return order, nil
}

func allDone[N comparable](deps []N, done map[N]bool) bool {
	for _, dep := range deps {
		if !done[dep] {
			return false
		}
	}

	return true
}

// cycle renders a cycle among the nodes that are not done; there is one, since each of them waits for another.
func cycle[N comparable](nodes []N, deps func(N) []N, name func(N) string, done map[N]bool) string {
	var at N

	for _, n := range nodes {
		if !done[n] {
			at = n

			break
		}
	}

	var path []N

	seen := map[N]int{}

	for {
		if first, again := seen[at]; again {
			path = append(path[first:], at)

			break
		}

		seen[at] = len(path)
		path = append(path, at)

		for _, dep := range deps(at) {
			if !done[dep] {
				at = dep

				break
			}
		}
	}

	names := make([]string, len(path))
	for i, n := range path {
		names[i] = fmt.Sprintf("%q", name(n))
	}

	return strings.Join(names, " comes after ")
}

func quoted[N any](nodes []N, name func(N) string) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = fmt.Sprintf("%q", name(n))
	}

	if len(names) == 1 {
		return names[0]
	}

	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
