package analysis

import (
	"slices"

	"github.com/switchyard-run/switchyard/reduced"
)

// exactBudget bounds the work spent on finding the shortest of all ways round one group of controllers, in edges
// followed. It is a constant, so that the whole stays linear; groups of some hundred controllers stay well below it.
const exactBudget = 1 << 20

// flow is the graph that data flows in. Its nodes are numbers: first the controllers, then the outputs, then the
// inputs, each in the order of the declarations. Every way from controller to controller has exactly three steps
// (controller, output, input, controller), so the shortest way in nodes is the shortest in controllers.
type flow struct {
	d    *declarations
	next [][]int
}

func newFlow(d *declarations) *flow {
	f := &flow{d: d, next: make([][]int, len(d.controllers)+len(d.outputs)+len(d.inputs))}

	number := map[string]int{}
	for i, name := range d.controllers {
		number[name] = i
	}

	output := map[reduced.Kind]int{}
	for i, kind := range d.outputs {
		output[kind] = f.output(i)
	}

	input := map[reduced.Kind]int{}
	for i, kind := range d.inputs {
		input[kind] = f.input(i)

		for _, out := range []reduced.Kind{{Type: kind.Type}, kind} {
			if o, ok := output[out]; ok {
				f.next[o] = append(f.next[o], input[kind])
			}
		}
	}

	for _, w := range d.writes {
		c := number[w.controller]
		f.next[c] = append(f.next[c], output[w.kind])
	}

	for _, r := range d.reads {
		if !r.cleanup {
			in := input[r.kind]
			f.next[in] = append(f.next[in], number[r.controller])
		}
	}

	for i := range f.next {
		slices.Sort(f.next[i])
		f.next[i] = slices.Compact(f.next[i])
	}

	return f
}

func (f *flow) output(i int) int { return len(f.d.controllers) + i }

func (f *flow) input(i int) int { return len(f.d.controllers) + len(f.d.outputs) + i }

func (f *flow) isController(node int) bool { return node < len(f.d.controllers) }

// loops returns one loop for each group of controllers that feed each other, ordered by first member.
func loops(d *declarations) []Loop {
	f := newFlow(d)
	group, members := f.components()
	search := newSearch(f, group)

	var found []Loop

	for _, controllers := range members {
		cycle := search.shortest(controllers)
		if cycle == nil {
			continue
		}

		loop := Loop{Cycle: f.steps(cycle)}
		for _, c := range controllers {
			loop.Controllers = append(loop.Controllers, d.controllers[c])
		}

		found = append(found, loop)
	}

	slices.SortFunc(found, func(a, b Loop) int { return slices.Compare(a.Controllers, b.Controllers) })

	return found
}

// steps names the nodes of a cycle, which begins at a controller.
func (f *flow) steps(cycle []int) []Step {
	steps := make([]Step, 0, len(cycle)/3)

	for i := 0; i < len(cycle); i += 3 {
		kind := f.d.inputs[cycle[i+2]-f.input(0)]
		steps = append(steps, Step{
			Controller: f.d.controllers[cycle[i]],
			Namespace:  kind.Namespace,
			Type:       kind.Type,
		})
	}

	return steps
}

// components finds the strongly connected components: the component number of each node, and the controllers, in
// ascending order, of each component that has any. It is Tarjan's algorithm with the call stack spelled out, so that
// the depth of a graph is bounded by memory alone.
func (f *flow) components() (group []int, members [][]int) {
	const unseen = -1

	type frame struct{ node, edge int }

	var (
		calls   []frame
		open    []int
		order   = slices.Repeat([]int{unseen}, len(f.next))
		low     = make([]int, len(f.next))
		counter int
		groups  int
	)

	group = slices.Repeat([]int{unseen}, len(f.next))

	enter := func(node int) {
		order[node], low[node] = counter, counter
		counter++

		open = append(open, node)
		calls = append(calls, frame{node: node})
	}

	for root := range f.next {
		if order[root] != unseen {
			continue
		}

		enter(root)

		for len(calls) > 0 {
			top := &calls[len(calls)-1]
			node := top.node

			if top.edge < len(f.next[node]) {
				to := f.next[node][top.edge]
				top.edge++

				switch {
				case order[to] == unseen:
					enter(to)
				case group[to] == unseen:
					low[node] = min(low[node], order[to])
				}

				continue
			}

			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].node
				low[parent] = min(low[parent], low[node])
			}

			if low[node] != order[node] {
				continue
			}

			var controllers []int

			for {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				group[last] = groups

				if f.isController(last) {
					controllers = append(controllers, last)
				}

				if last == node {
					break
				}
			}

			groups++

			if controllers != nil {
				slices.Sort(controllers)
				members = append(members, controllers)
			}
		}
	}

	return group, members
}

// search looks for short ways round. Its slices are allocated once for all searches: from is valid for a node only
// where seen holds the number of the present search.
type search struct {
	f     *flow
	group []int

	from  []int
	seen  []int
	round int
	queue []int
}

func newSearch(f *flow, group []int) *search {
	return &search{f: f, group: group, from: make([]int, len(f.next)), seen: make([]int, len(f.next))}
}

// shortest returns the nodes of the shortest way round that stays within one group, beginning at a controller, or
// nil where there is none. Among equals the one whose first controller comes first by name wins. In a group too large
// for the budget, the ways through the first controllers only are compared.
func (s *search) shortest(controllers []int) []int {
	var best []int

	budget := exactBudget

	for _, start := range controllers {
		if cycle := s.through(start, len(best), &budget); cycle != nil {
			best = cycle
		}

		if len(best) == 3 || budget <= 0 {
			break
		}
	}

	return best
}

// through returns the shortest way from a controller back to itself, if it is shorter than limit nodes; 0 means any
// length. The edges followed are taken off the budget, but a search once begun is finished. Nodes are visited level by
// level: those queued before level are depth-1 steps away from the start.
func (s *search) through(start, limit int, budget *int) []int {
	s.round++
	s.queue = append(s.queue[:0], start)

	depth, level := 1, 1

	for next := 0; next < len(s.queue); next++ {
		if next == level {
			depth, level = depth+1, len(s.queue)
		}

		if limit > 0 && depth >= limit {
			break
		}

		node := s.queue[next]
		*budget -= len(s.f.next[node])

		for _, to := range s.f.next[node] {
			if s.group[to] != s.group[start] || s.seen[to] == s.round {
				continue
			}

			s.seen[to] = s.round
			s.from[to] = node

			if to == start {
				return s.wayTo(start)
			}

			s.queue = append(s.queue, to)
		}
	}

	return nil
}

func (s *search) wayTo(start int) []int {
	var way []int

	for node := s.from[start]; node != start; node = s.from[node] {
		way = append(way, node)
	}

	way = append(way, start)
	slices.Reverse(way)

	return way
}
