package operator_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// The types of the tests: a lamp is asked for, its status says how it glows, and a bulb is its child.
const (
	lampType       = resource.Type("Lamps.test.switchyard.run")
	lampStatusType = resource.Type("LampStatuses.test.switchyard.run")
	bulbType       = resource.Type("Bulbs.test.switchyard.run")
	lampsIn        = resource.Namespace("default")
)

type lamp = typed.Resource[lampSpec, lampExtension]

type lampSpec struct {
	Watts int  `yaml:"watts" protobuf:"1"`
	Off   bool `yaml:"off" protobuf:"2"`
}

func (s lampSpec) DeepCopy() lampSpec { return s }

type lampExtension struct{}

func (lampExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: lampType, DefaultNamespace: lampsIn}
}

func newLamp(id resource.ID, watts int) *lamp {
	md := resource.NewMetadata(lampsIn, lampType, id, resource.VersionUndefined)

	return typed.NewResource[lampSpec, lampExtension](md, lampSpec{Watts: watts})
}

// newHeld returns a lamp that has the controller's finalizer already: there is no second pass because it was put on.
func newHeld(id resource.ID, watts int) *lamp {
	l := newLamp(id, watts)
	l.Metadata().Finalizers().Add("lamps")

	return l
}

type lampStatus = operator.StatusResource[glow, lampStatusExtension]

// glow is what a status says beside its conditions.
type glow struct {
	Lumen int       `yaml:"lumen" protobuf:"1"`
	Hues  []string  `yaml:"hues,omitempty" protobuf:"2"`
	Since time.Time `yaml:"since" protobuf:"3"`
}

func (g glow) DeepCopy() glow {
	g.Hues = append([]string(nil), g.Hues...)

	return g
}

type lampStatusExtension struct{}

func (lampStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: lampStatusType, DefaultNamespace: lampsIn}
}

func newLampStatus(id resource.ID, spec operator.StatusSpec[glow]) *lampStatus {
	return typed.NewResource[operator.StatusSpec[glow], lampStatusExtension](statusOf(id), spec)
}

func statusOf(id resource.ID) resource.Metadata {
	return resource.NewMetadata(lampsIn, lampStatusType, id, resource.VersionUndefined)
}

type bulb = typed.Resource[bulbSpec, bulbExtension]

type bulbSpec struct{ Watts int }

func (s bulbSpec) DeepCopy() bulbSpec { return s }

type bulbExtension struct{}

func (bulbExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: bulbType, DefaultNamespace: lampsIn}
}

func newBulb(id resource.ID, watts int) *bulb {
	md := resource.NewMetadata(lampsIn, bulbType, id, resource.VersionUndefined)

	return typed.NewResource[bulbSpec, bulbExtension](md, bulbSpec{watts})
}

// operatorEvents is the kind of the events about lamps.
func operatorEvents() resource.Metadata {
	return resource.NewMetadata(lampsIn, operator.EventType, "", resource.VersionUndefined)
}

// errSecret is an ordinary error with a text that nobody is to read.
var errSecret = errors.New("password is hunter2")

// fine is a handler of a stage that has nothing to do.
func fine(context.Context, *lamp, *operator.StageContext) error { return nil }

// good is the same for a whole pass.
func good(context.Context, *lamp, *operator.Context[*lamp]) error { return nil }

// diary is what handlers have written down.
type diary struct {
	w *controllertest.World

	// mu guards what follows.
	mu    sync.Mutex
	began time.Time
	lines []string
	times []time.Duration
}

func newDiary(w *controllertest.World) *diary { return &diary{w: w, began: time.Now()} }

// add writes a line, and returns how many there were before.
func (d *diary) add(line string) int {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.lines = append(d.lines, line)
	d.times = append(d.times, time.Since(d.began).Round(100*time.Millisecond)) // a turn of the world takes a millisecond

	return len(d.lines) - 1
}

// take returns the lines and begins a new page.
func (d *diary) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()

	lines := d.lines
	d.lines, d.times = nil, nil

	return lines
}

// at returns when the lines of this page were written, since the first of them.
func (d *diary) at() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()

	var since []time.Duration
	for _, t := range d.times {
		since = append(since, t-d.times[0])
	}

	return since
}

// lit begins a controller of lamps with a status.
func lit() (*operator.Controller[*lamp], *operator.StatusOf[glow]) {
	c := operator.For[*lamp]("lamps")

	return c, operator.Status[glow, lampStatusExtension](c)
}

// stamped has lamps carry uids that count, and failures tried again after 1 s, 2 s, 4 s, and so on.
func stamped(w *controllertest.World) {
	w.Wrap(func(core state.CoreState) state.CoreState {
		n := 0

		return generation.Wrap(core, generation.Config{Types: []resource.Type{lampType}, NewUID: func() string {
			n++

			return "uid-" + strconv.Itoa(n)
		}})
	})
	w.Configure(func(cfg *runtime.Config) {
		cfg.Backoff = backoff.Authoring()
		cfg.Backoff.Jitter = 0
	})
}

// light starts an engine with a controller of lamps, which is made anew for each engine.
func light(w *controllertest.World, define func() *operator.Controller[*lamp]) {
	stamped(w)
	w.Start(func(e controller.Engine) error { return operator.Register(e, define()) })
}

func status(w *controllertest.World, id resource.ID) *operator.StatusSpec[glow] {
	return controllertest.Get[*lampStatus](w, statusOf(id)).TypedSpec()
}

// change changes what a lamp asks for.
func change(w *controllertest.World, id resource.ID, change func(*lampSpec)) {
	controllertest.Update(w, newLamp(id, 0).Metadata(), func(l *lamp) { change(l.TypedSpec()) })
}

// said renders the conditions of a lamp, each as "Type Status Reason".
func said(w *controllertest.World, id resource.ID) []string {
	var all []string
	for _, c := range status(w, id).Conditions {
		all = append(all, c.Type+" "+string(c.Status)+" "+c.Reason)
	}

	return all
}

// essential leaves out of a comparison what differs from run to run: events, and times.
func essential(res resource.Resource) resource.Resource {
	switch res := res.(type) {
	case *operator.EventResource:
		return nil
	case *lampStatus:
		for i := range res.TypedSpec().Conditions {
			res.TypedSpec().Conditions[i].LastTransitionTime = time.Time{}
		}
	}

	return res
}
