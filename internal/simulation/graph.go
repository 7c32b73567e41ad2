package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/recording"
)

// form is what a node of a graph does.
type form int

const (
	// double makes, in one pass over all, one resource for each of its input, and takes away those whose input has gone.
	double form = iota
	// triple does the same one by one, and holds what it works on.
	triple
	// total adds up all of one kind, or of two.
	total
	// family adds to each resource of a kind those of another kind that name it as their parent.
	family
	// chosen adds up the resources of one kind that have an even one of the same id in another: its inputs change.
	chosen

	forms
)

func (f form) String() string {
	return [...]string{"double", "triple", "total", "family", "chosen"}[f]
}

// node is a controller of a graph.
type node struct {
	number int
	form   form
	// inputs are the one or two types that it reads.
	inputs [2]resource.Type
	// workers is its concurrency, if it has any.
	workers uint
}

func (n *node) name() string { return fmt.Sprintf("%d-%s", n.number, n.form) }

func (n *node) output() resource.Type { return nodeType(n.number) }

// graph is the controllers of one world.
type graph struct {
	world *controllertest.World
	nodes []*node
	// types are all that there are.
	types []resource.Type
	// cached are the types that are read through the cache.
	cached []resource.Type
	// absent are the nodes that are not registered at the moment, by number.
	absent map[int]bool

	witness  *witness
	recorder *recording.Recorder
}

// draw makes a graph as the schedule wants it.
func draw(w *controllertest.World) *graph {
	g := &graph{world: w, absent: map[int]bool{}, witness: newWitness(w)}

	// Everybody may read what lies in all; what lies in held can be held by whoever reads it: its owner waits for that.
	var all, held []resource.Type

	for n := range sources {
		all, held = append(all, sourceType(n)), append(held, sourceType(n))
	}

	for number := range 1 + w.Pick("nodes", most) {
		pick := func(what string, from []resource.Type) resource.Type {
			return from[w.Pick(fmt.Sprintf("%s of node %d", what, number), len(from))]
		}

		n := &node{number: number, form: form(w.Pick("form of node "+strconv.Itoa(number), int(forms)))}
		n.workers = uint(1 + w.Pick("workers of node "+strconv.Itoa(number), 3))
		n.inputs[1] = pick("second input", all)

		if n.form == triple || n.form == family {
			n.inputs[0] = pick("input", held)
		} else {
			n.inputs[0] = pick("input", all)
		}

		if n.form == triple {
			held = append(held, n.output())
		}

		if n.form == family && n.inputs[1] == n.inputs[0] {
			n.form = total // a kind can be one input of a controller only
		}

		all = append(all, n.output())
		g.nodes = append(g.nodes, n)
	}

	g.types = all

	for _, typ := range all {
		if w.Pick("cache of "+typ, 2) == 1 {
			g.cached = append(g.cached, typ)
		}
	}

	return g
}

// register registers the controllers that are wanted at the moment.
func (g *graph) register(e controller.Engine) error {
	g.witness.restarted()

	if g.recorder != nil {
		e = g.recorder.Engine(e)
	}

	if err := e.RegisterController(&destroyer{g}); err != nil {
		return err
	}

	for _, n := range g.nodes {
		if g.absent[n.number] {
			continue
		}

		if err := g.add(e, n); err != nil {
			return err
		}
	}

	return nil
}

func (g *graph) add(e controller.Engine, n *node) error {
	g.witness.registered(n.name())

	switch n.form {
	case triple:
		return e.RegisterQController(&tripler{n, g.witness})
	case family:
		return e.RegisterQController(&families{n, g.witness})
	case chosen:
		return e.RegisterController(&chooser{n, g.witness})
	case total:
		return e.RegisterController(&summer{n, g.witness})
	default:
		return e.RegisterController(&doubler{n, g.witness})
	}
}

// entry is what counts of a resource.
type entry struct {
	n      int64
	parent resource.ID
}

func entryOf(v *value) entry {
	at, _ := v.Metadata().Labels().Get(parent)

	return entry{v.TypedSpec().N, at}
}

// model computes what each node comes to, from the sources.
func (g *graph) model(all map[resource.Type]map[resource.ID]entry) {
	for _, n := range g.nodes {
		all[n.output()] = n.model(all[n.inputs[0]], all[n.inputs[1]])
	}
}

func (n *node) model(first, second map[resource.ID]entry) map[resource.ID]entry {
	out := map[resource.ID]entry{}

	switch n.form {
	case double:
		for id, v := range first {
			out[id] = entry{2*v.n + 1, v.parent}
		}
	case triple:
		for id, v := range first {
			out[id] = entry{3*v.n + 1, v.parent}
		}
	case total:
		all := entry{}
		for _, list := range []map[resource.ID]entry{first, second} {
			for _, v := range list {
				all.n += v.n
			}
		}

		out["total"] = all
	case family:
		for id, v := range first {
			out[id] = entry{n: v.n}
		}

		for _, child := range second {
			if head, there := out[child.parent]; there {
				head.n += child.n
				out[child.parent] = head
			}
		}
	case chosen:
		all := entry{}

		for id, v := range first {
			if v.n%2 == 0 {
				all.n += second[id].n
			}
		}

		out["chosen"] = all
	}

	return out
}

// check compares what is there with the model.
func (g *graph) check() {
	want := map[resource.Type]map[resource.ID]entry{}

	for n := range sources {
		want[sourceType(n)] = g.found(sourceType(n))
	}

	g.model(want)

	for _, n := range g.nodes {
		if is := g.found(n.output()); !maps.Equal(is, want[n.output()]) {
			g.world.Fatalf("%s, which reads %s and %s, comes to %s, but should to %s",
				n.name(), n.inputs[0], n.inputs[1], sorted(is), sorted(want[n.output()]))
		}
	}
}

func (g *graph) found(typ resource.Type) map[resource.ID]entry {
	found := map[resource.ID]entry{}
	for _, v := range controllertest.List[*value](g.world, kind(typ)) {
		found[v.Metadata().ID()] = entryOf(v)
	}

	return found
}

func sorted(values map[resource.ID]entry) string {
	list := make([]string, 0, len(values))
	for _, id := range slices.Sorted(maps.Keys(values)) {
		list = append(list, fmt.Sprintf("%s=%v", id, values[id]))
	}

	return fmt.Sprint(list)
}
