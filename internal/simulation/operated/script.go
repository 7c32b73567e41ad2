package operated

import (
	"context"
	"fmt"
	"strconv"

	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/runtime"
)

const (
	// operations is how many things happen from outside in a world.
	operations = 30
	sites      = 3
	sources    = 3
	mostPages  = 3
)

// world is an operator and what happens to it.
type world struct {
	*controllertest.World

	weather Weather
	subject *subject
	notary  *notary
	// tampered tells that something was done to a status that wakes nobody.
	tampered bool
}

// Weather is what may go wrong in a world.
type Weather int

const (
	// Quiet is nothing.
	Quiet Weather = iota
	// Stumbling is what handlers do.
	Stumbling
	// Stormy is that, and what the schedule has fail.
	Stormy
)

// Script is a world of its own for each schedule.
func Script(weather Weather) controllertest.Script {
	return func(cw *controllertest.World) {
		w := draw(cw, weather)

		w.Start(w.subject.register)

		for n := range operations {
			w.happens(n)
		}

		w.ends()
	}
}

// draw makes a world as the schedule wants it.
func draw(cw *controllertest.World, weather Weather) *world {
	stumbler := &stumbler{world: cw}
	stumbler.off.Store(weather == Quiet)

	w := &world{World: cw, weather: weather, subject: &subject{
		stumbler: stumbler, registry: &registry{stumbler: stumbler, records: map[resource.ID]string{}},
		workers: 1 + cw.Pick("workers", 3), statusUpdates: cw.Pick("updates of the status", 2) == 1, events: cw.Pick("events", 4) == 1,
		every: cw.Pick("every", 4) == 1, byCaches: cw.Pick("reads by caches", 2) == 1,
	}}
	w.notary = &notary{world: cw, registry: w.subject.registry}

	stamped := cw.Pick("no stamps", 4) != 1

	cw.Wrap(func(core state.CoreState) state.CoreState {
		if stamped {
			lives := 0
			core = generation.Wrap(core, generation.Config{Types: []resource.Type{siteType}, NewUID: func() string {
				lives++

				return "life-" + strconv.Itoa(lives)
			}})
		}

		w.notary.CoreState = core

		return w.notary
	})
	cw.Configure(func(cfg *runtime.Config) {
		for _, typ := range types {
			if cw.Pick("cache of "+typ, 2) == 1 {
				cfg.Options = append(cfg.Options, options.WithCachedResource(namespace, typ))
			}
		}
	})

	return w
}

// happens does one thing from outside.
func (w *world) happens(n int) {
	pick := func(what string, of int) int { return w.Pick(fmt.Sprintf("%s of operation %d", what, n), of) }

	id := resource.ID(strconv.Itoa(pick("site", sites)))
	child := pointer(configType, id)

	if number := pick("child", mostPages+1); number > 0 {
		child = pointer(pageType, fmt.Sprintf("%s-%d", id, number-1))
	}

	// Half of what happens is what people ask for, and half is what others do to what is there.
	ways := []func(){
		func() {},
		func() { w.asks(id, pick) },
		func() { w.asks(id, pick) },
		func() { w.asks(id, pick) },
		func() { w.relabels(id, pick("tier", 3)) },
		func() { w.tearsDown(pointer(siteType, id)) },
		func() { w.tearsDown(pointer(siteType, id)) },
		func() { w.adds(strconv.Itoa(pick("source", sources)), id, pick) },
		func() { w.adds(strconv.Itoa(pick("source", sources)), id, pick) },
		func() { w.destroys(pointer(sourceType, strconv.Itoa(pick("source", sources)))) },
		func() { w.edits(child, pick("number", 5)) },
		func() { w.tearsDown(child) },
		func() { w.destroys(child) },
		func() { w.holds(child) },
		func() { w.holds(pointer(siteStatusType, id)) },
		func() { w.holds(pointer(siteType, id)) },
		func() { w.tampers(id, pick("way to tamper", 3)) },
		func() { w.tearsDown(pointer(siteStatusType, id)) },
		func() { w.tampered = w.destroys(pointer(siteStatusType, id)) || w.tampered },
		func() { w.takes(id) },
		w.releases,
		w.settles,
		w.settles,
		w.Settle,
		w.WakeAll,
		w.Restart,
	}

	ways[pick("way", len(ways))]()
}

// tolerates ends the run for errors that others can not have caused by being quicker.
func (w *world) tolerates(what string, err error) (done bool) {
	switch {
	case err == nil:
		return true
	case state.IsConflictError(err), state.IsPhaseConflictError(err), state.IsOwnerConflictError(err), state.IsNotFoundError(err):
		return false
	default:
		w.Fatalf("%s: %s", what, err)

		return false
	}
}

func (w *world) ctx() context.Context { return foreign(w.Context()) }

// asks makes a site, or changes it.
func (w *world) asks(id resource.ID, pick func(string, int) int) {
	err := w.State().Modify(w.ctx(), newSite(id), func(res resource.Resource) error {
		v := res.(*site)
		v.TypedSpec().Mode = []mode{up, up, up, late, paused, invalid}[pick("mode", 6)]
		v.TypedSpec().Pages = pick("pages", mostPages+1)

		if v.Metadata().Version().Value() == 0 && pick("tier", 6) > 0 {
			v.Metadata().Labels().Set(tier, "on")
		}

		return nil
	})
	w.tolerates("asking for a site", err)
}

func (w *world) relabels(id resource.ID, way int) {
	_, err := w.State().UpdateWithConflicts(w.ctx(), pointer(siteType, id), func(res resource.Resource) error {
		if way == 1 {
			res.Metadata().Labels().Delete(tier)
		} else {
			res.Metadata().Labels().Set(tier, "on")
		}

		return nil
	})
	w.tolerates("relabelling a site", err)
}

// adds makes a source, or has it move.
func (w *world) adds(id, to resource.ID, pick func(string, int) int) {
	err := w.State().Modify(w.ctx(), newSource(id), func(res resource.Resource) error {
		*res.(*source).TypedSpec() = sourceSpec{For: to, Value: pick("value", 5)}

		if pick("for nobody", 6) == 1 {
			res.(*source).TypedSpec().For = ""
		}

		return nil
	})
	w.tolerates("adding a source", err)
}

// update changes what is there, whoever it belongs to.
func (w *world) update(ptr resource.Pointer, change func(resource.Resource)) (done bool) {
	res, err := w.State().Get(w.ctx(), ptr)
	if !w.tolerates("reading", err) {
		return false
	}

	_, err = w.State().UpdateWithConflicts(w.ctx(), ptr, func(res resource.Resource) error {
		change(res)

		return nil
	}, state.WithUpdateOwner(res.Metadata().Owner()), state.WithExpectedPhaseAny())

	return w.tolerates("updating", err)
}

// edits changes a child.
func (w *world) edits(ptr resource.Pointer, number int) {
	w.update(ptr, func(res resource.Resource) {
		switch res := res.(type) {
		case *config:
			*res.TypedSpec() = configSpec{Value: number, Note: strconv.Itoa(number)}
		case *page:
			*res.TypedSpec() = pageSpec{Number: number, Of: number}
		}
	})
}

func (w *world) owner(ptr resource.Pointer) string {
	res, err := w.State().Get(w.ctx(), ptr)
	if err != nil {
		return ""
	}

	return res.Metadata().Owner()
}

func (w *world) tearsDown(ptr resource.Pointer) (ready bool) {
	ready, err := w.State().Teardown(w.ctx(), ptr, state.WithTeardownOwner(w.owner(ptr)))

	return w.tolerates("tearing down", err) && ready
}

func (w *world) destroys(ptr resource.Pointer) (done bool) {
	owner := w.owner(ptr)
	if !w.tearsDown(ptr) {
		return false
	}

	return w.tolerates("destroying", w.State().Destroy(w.ctx(), ptr, state.WithDestroyOwner(owner)))
}

// holder is the finalizer of others.
const holder = resource.Finalizer("somebody")

func (w *world) holds(ptr resource.Pointer) {
	w.update(ptr, func(res resource.Resource) { res.Metadata().Finalizers().Add(holder) })
}

// tampers writes into a status.
func (w *world) tampers(id resource.ID, way int) {
	done := w.update(pointer(siteStatusType, id), func(res resource.Resource) {
		spec := res.(*siteStatus).TypedSpec()

		switch way {
		case 0:
			spec.SubjectUID = "another"
		case 1:
			spec.Data.Total = -1
		default:
			for i := range spec.Conditions {
				spec.Conditions[i].Status, spec.Conditions[i].Reason = "Unknown", "Tampered"
			}
		}
	})

	w.tampered = w.tampered || done
}

// takes puts something of somebody else in the place of a config.
func (w *world) takes(id resource.ID) {
	w.tolerates("taking a place", w.State().Create(w.ctx(), newConfig(id), state.WithCreateOwner("somebody")))
}

// releases lets go of all that others hold, and gives back all places.
func (w *world) releases() {
	for _, typ := range types {
		all, err := w.State().List(w.ctx(), pointer(typ, ""))
		w.tolerates("listing", err)

		for _, res := range all.Items {
			md := res.Metadata()

			if md.Finalizers().Has(holder) {
				w.update(md, func(res resource.Resource) { res.Metadata().Finalizers().Remove(holder) })
			}

			if typ == configType && md.Owner() == "somebody" && w.Pick("giving back", 2) == 1 {
				w.destroys(md)
			}
		}
	}
}

// rests waits until all is at rest. A pass may have taken a minute, in which nothing was written, and have asked to be run again:
// that is run in the next one.
func (w *world) rests() {
	w.Settle()
	w.Settle()
}

// settles waits until all is at rest, and compares it with the model.
func (w *world) settles() {
	w.releases()

	if w.tampered {
		w.Settle() // what was written before is not to be taken for what wakes
		w.WakeAll()
	}

	w.tampered = false

	w.rests()
	look(w.World, w.subject.registry).check()
}

// ends brings the world to rest, wakes all in vain, and then has all sites go.
func (w *world) ends() {
	w.settles()

	if w.weather != Stormy {
		w.wakesInVain()
	}

	for _, v := range controllertest.List[*site](w.World, pointer(siteType, "")) {
		w.tearsDown(v.Metadata())
	}

	w.rests()

	left := look(w.World, w.subject.registry)
	left.check()

	if len(left.sites) > 0 {
		w.Errorf("there are sites left: %s", left)
	}
}

// wakesInVain wakes all when nothing has changed: nothing may be written.
func (w *world) wakesInVain() {
	writes, calm := w.notary.written(), w.subject.off.Swap(true)

	w.WakeAll()
	w.rests()

	if more := w.notary.written() - writes; more > 0 {
		w.Errorf("%d writes are made for nothing", more)
	}

	w.subject.off.Store(calm)
}
