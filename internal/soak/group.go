package main

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// group is some controllers, their resources, and what goes wrong with them.
type group struct {
	number int
	// plain is the state as it is, faulty the same one as the engine sees it.
	plain  state.State
	faulty *faulty
	faults *faults

	// writing guards the sources and the registration of the controllers: who holds it may change them, and a checker
	// holds it so that nobody does.
	writing sync.Mutex
	ids     ids
}

// ids are all the ids that sources and notes of a group may have; there is not always a resource of each.
type ids struct{ sources, notes []resource.ID }

// newIDs returns the ids for a group that has so many resources most of the time. Each source has a copy and a join.
func newIDs(resources int) ids {
	notes := resources / 10

	return ids{
		sources: numbered("source", share((resources-notes)/3)),
		notes:   numbered("note", share(notes)),
	}
}

// share returns how many ids it takes for so many resources.
func share(resources int) int { return int(float64(resources)/present) + 1 }

func numbered(name string, count int) []resource.ID {
	all := make([]resource.ID, count)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%05d", name, i)
	}

	return all
}

// newGroup returns a group over a state.
func newGroup(number int, s *settings, counts *ledger, inner state.CoreState) *group {
	f := &faults{ledger: counts, allowed: s.faults, dice: rand.New(rand.NewPCG(s.seed, uint64(2*number)))}

	return &group{
		number: number,
		plain:  state.WrapCore(inner),
		faulty: &faulty{CoreState: inner, faults: f, lose: s.lose},
		faults: f,
		ids:    newIDs(s.resources / s.groups()),
	}
}

func (g *group) String() string { return fmt.Sprintf("group-%03d", g.number) }

// pointer points to a resource of the group. Types are the group's own, since outputs are.
func (g *group) pointer(name string, id resource.ID) resource.Pointer {
	return resource.NewMetadata(g.String(), fmt.Sprintf("%s-%03d.soak", name, g.number), id, resource.VersionUndefined)
}

func (g *group) kind(name string) resource.Kind { return g.pointer(name, "") }

// input returns an input of all resources of a kind.
func (g *group) input(name string, kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: g.String(), Type: g.kind(name).Type(), Kind: kind}
}

// inputOf returns an input of one resource.
func (g *group) inputOf(name string, id resource.ID, kind controller.InputKind) controller.Input {
	input := g.input(name, kind)
	input.ID = optional.Some(id)

	return input
}

// output returns an output that no other controller has.
func (g *group) output(name string) []controller.Output {
	return []controller.Output{{Type: g.kind(name).Type(), Kind: controller.OutputExclusive}}
}

// cached returns the options for the kinds that are cached: in one group all, in one those that are only read, in one
// those that are written by controllers, in one none, and so on.
func (g *group) cached() []options.Option {
	var names []string

	if g.number%4 < 2 {
		names = append(names, sources, notes, selections)
	}

	if g.number%2 == 0 {
		names = append(names, copies, joins, sums, tallies, picks)
	}

	var opts []options.Option

	for _, name := range names {
		opts = append(opts, options.WithCachedResource(g.String(), g.kind(name).Type()))
	}

	return opts
}

// The roles whose controllers hold their inputs.
const (
	copying = iota
	joining
)

// roles are what the controllers of a group do, by the word that their names begin with.
var roles = []struct {
	name string
	make func(g *group, name string) member
}{
	{"copy", newCopier},
	{"join", newJoiner},
	{"sum", newSummer},
	{"tally", newTallier},
	{"pick", newPicker},
}

// member is a controller of a group, of either form.
type member struct {
	classic controller.Controller
	queue   controller.QController
}

// register registers a new controller of a role.
func (g *group) register(engine *runtime.Runtime, role int) error {
	m := roles[role].make(g, g.controller(role))

	if m.queue != nil {
		return engine.RegisterQController(m.queue)
	}

	return engine.RegisterController(m.classic)
}

// controller returns the name of the controller of a role, which is also the finalizer that it sets.
func (g *group) controller(role int) string {
	return fmt.Sprintf("%s-%03d", roles[role].name, g.number)
}
