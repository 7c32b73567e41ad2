package simulation

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

const (
	// operations is how many things happen from outside in a world.
	operations = 30
	ids        = 4
)

// what happens from outside.
const (
	nothing = iota
	write
	writeAgain
	relabel
	tearDown
	tearDownAgain
	settle
	comeAndGo
	trigger
	restart
	refuse

	ways
)

// Setting is what may be different from world to world without being drawn.
type Setting struct {
	// Between is called before anything is started, or nil.
	Between func(*controllertest.World)
	// AuditInterval is that of the engine.
	AuditInterval time.Duration
	// Recorder records the world, or nil. Controllers do not come and go then, and the process is not restarted.
	Recorder *recording.Recorder
	// Replay is set to what registers the controllers of the world anew, without a world around them.
	Replay func(controller.Engine) error
}

// Script is a world of its own for each schedule: a graph, what happens to it, and what must have come of it.
func Script(set *Setting) controllertest.Script {
	return func(w *controllertest.World) {
		g := draw(w)
		g.recorder = set.Recorder

		if set.Between != nil {
			set.Between(w)
		}

		if set.Recorder != nil {
			w.Wrap(func(st state.CoreState) state.CoreState { return set.Recorder.State(st) })
		}

		w.Configure(func(cfg *runtime.Config) {
			cfg.AuditInterval = set.AuditInterval

			for _, typ := range g.cached {
				cfg.Options = append(cfg.Options, options.WithCachedResource(namespace, typ))
			}
		})

		set.Replay = (&graph{nodes: g.nodes, absent: g.absent}).register

		w.Start(g.register)

		for n := range operations {
			g.happens(n)
		}

		g.ends()
	}
}

// happens does one thing from outside.
func (g *graph) happens(n int) {
	w := g.world
	pick := func(what string, of int) int { return w.Pick(fmt.Sprintf("%s of operation %d", what, n), of) }

	typ := func() resource.Type { return sourceType(pick("type", sources)) }
	id := func() resource.ID { return strconv.Itoa(pick("id", ids)) }

	way := pick("way", ways)
	if g.recorder != nil && way >= comeAndGo && way != trigger {
		return
	}

	switch way {
	case write, writeAgain, relabel:
		g.write(typ(), id(), int64(pick("number", 10)), pick("parent", ids+1))
	case tearDown, tearDownAgain:
		ptr := newValue(typ(), id()).Metadata()

		if _, err := w.State().Teardown(w.Context(), ptr); err != nil && !state.IsNotFoundError(err) {
			w.Fatalf("%s can not be torn down: %s", ptr, err)
		}
	case settle:
		g.settles()
	case comeAndGo:
		g.comesOrGoes(g.nodes[pick("node", len(g.nodes))])
	case trigger:
		w.WakeAll()
	case restart:
		w.Restart()
	case refuse:
		g.refuses()
	}
}

// write writes a source, unless it is being torn down.
func (g *graph) write(typ resource.Type, id resource.ID, n int64, at int) {
	w := g.world
	fresh := newValue(typ, id)

	err := w.State().Modify(w.Context(), fresh, func(res resource.Resource) error {
		v, ok := res.(*value)
		if !ok {
			return fmt.Errorf("%s is a %T", res.Metadata(), res)
		}

		v.TypedSpec().N = n

		if at == 0 {
			v.Metadata().Labels().Delete(parent)
		} else {
			v.Metadata().Labels().Set(parent, strconv.Itoa(at-1))
		}

		return nil
	})
	if err != nil && !state.IsConflictError(err) && !state.IsPhaseConflictError(err) && !state.IsNotFoundError(err) {
		w.Fatalf("%s can not be written: %s", fresh.Metadata(), err)
	}
}

// settles waits for the world, and compares it with the model if all controllers are there.
func (g *graph) settles() {
	g.world.Settle()

	if len(g.absent) == 0 {
		g.check()
	}
}

// comesOrGoes registers or unregisters a controller.
func (g *graph) comesOrGoes(n *node) {
	w := g.world

	if g.absent[n.number] {
		w.Do("registers "+n.name(), func() {
			delete(g.absent, n.number)

			if err := g.add(w.Engine(), n); err != nil && !w.Crashed() {
				w.Fatalf("%s can not be registered: %s", n.name(), err)
			}
		})

		return
	}

	w.Do("unregisters "+n.name(), func() {
		g.absent[n.number] = true

		if err := w.Runtime().Unregister(w.Context(), n.name()); err != nil && !w.Crashed() {
			w.Fatalf("%s can not be unregistered: %s", n.name(), err)
		}
	})
}

// refuses registers a controller that has to be refused, and then one that claims what that would have had.
func (g *graph) refuses() {
	w := g.world

	w.Do("registers a controller that is refused", func() {
		if err := w.Engine().RegisterController(&claimant{name: "refused", inputs: append(weakInputs(sourceType(0)), weakInputs(sourceType(0))...)}); err == nil {
			w.Fatalf("a controller with one input twice was not refused")
		}
	})
	w.Do("registers one that claims the same", func() {
		if err := w.Engine().RegisterController(&claimant{name: "accepted"}); err != nil && !w.Crashed() {
			w.Fatalf("a controller can not be registered after one that was refused: %s", err)
		}
	})
	w.Do("unregisters it", func() {
		err := w.Runtime().Unregister(w.Context(), "accepted")
		if err != nil && !w.Crashed() && !errors.Is(err, runtime.ErrNotRegistered) {
			w.Fatalf("it can not be unregistered: %s", err)
		}
	})
}

// ends brings the world to rest, and looks whether anything is left of what is needed no more.
func (g *graph) ends() {
	w := g.world

	for _, n := range g.nodes {
		if g.absent[n.number] {
			g.comesOrGoes(n)
		}
	}

	g.settles()

	if g.recorder != nil {
		w.Stop()

		return
	}

	for _, n := range g.nodes {
		g.comesOrGoes(n)
	}

	w.Do("unregisters the destroyer", func() {
		if err := w.Runtime().Unregister(w.Context(), "destroyer"); err != nil && !w.Crashed() {
			w.Fatalf("the destroyer can not be unregistered: %s", err)
		}
	})

	if w.Crashed() {
		return
	}

	health := w.Runtime().Health()

	for _, k := range health.Kinds {
		if !k.Cached {
			w.Errorf("%s is still watched, and nobody needs it", k.Kind)
		}
	}

	for _, c := range health.Controllers {
		w.Errorf("controller %q is still there", c.Name)
	}
}
