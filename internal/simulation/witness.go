package simulation

import (
	"maps"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/controllertest"
)

// witness watches over what the engine promises to controllers. A nil one watches over nothing.
type witness struct {
	world *controllertest.World

	// mu guards the fields below.
	mu sync.Mutex
	// busy are the resources that are in a pass, by controller.
	busy map[sighted]bool
	// seen is the newest state that each controller has read of each resource.
	seen map[sighted]seen
}

type sighted struct {
	controller string
	typ        resource.Type
	id         resource.ID
}

type seen struct {
	created time.Time
	version uint64
}

func newWitness(w *controllertest.World) *witness {
	x := &witness{world: w}
	x.restarted()

	return x
}

// restarted forgets what a process knew that has ended.
func (x *witness) restarted() {
	if x == nil {
		return
	}

	x.mu.Lock()
	defer x.mu.Unlock()

	x.busy, x.seen = map[sighted]bool{}, map[sighted]seen{}
}

// registered forgets what a controller of the name has seen and written: it is another one now, which is promised nothing
// about what the former one did.
func (x *witness) registered(controller string) {
	if x == nil {
		return
	}

	x.mu.Lock()
	defer x.mu.Unlock()

	maps.DeleteFunc(x.seen, func(at sighted, _ seen) bool { return at.controller == controller })
}

// pass notes the begin of a pass on a resource, and returns what notes its end.
func (x *witness) pass(controller string, ptr resource.Pointer) func() {
	if x == nil {
		return func() {}
	}

	x.mu.Lock()
	defer x.mu.Unlock()

	at := sighted{controller, ptr.Type(), ptr.ID()}
	if x.busy[at] {
		x.world.Errorf("%s has %s/%s in two passes at once", controller, ptr.Type(), ptr.ID())
	}

	busy := x.busy
	busy[at] = true

	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()

		delete(busy, at)
	}
}

// missing notes that a controller does not see what it has written.
func (x *witness) missing(controller string, typ resource.Type, id resource.ID) {
	if x != nil {
		x.world.Errorf("%s does not see %s/%s, which it has just written", controller, typ, id)
	}
}

// read notes what a controller was shown of a resource, or what it has written: it must not be shown anything older later.
func (x *witness) read(controller string, res resource.Resource) {
	if x == nil {
		return
	}

	x.mu.Lock()
	defer x.mu.Unlock()

	md := res.Metadata()
	at := sighted{controller, md.Type(), md.ID()}
	now := seen{md.Created(), md.Version().Value()}
	before := x.seen[at]

	switch older := now.created.Compare(before.created); {
	case older < 0:
		x.world.Errorf("%s was shown %s as created at %s, after it had seen the one of %s", controller, md, now.created, before.created)
	case older == 0 && now.version < before.version:
		x.world.Errorf("%s was shown version %d of %s, after it had seen version %d", controller, now.version, md, before.version)
	}

	x.seen[at] = now
}
