package main

import (
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

func cachedOwnWrites(t *trial) {
	r := t.rig(1, cachedItems())
	lent := make(chan controller.Runtime)

	r.classic(&classic{
		name:    "controller",
		outputs: []controller.Output{{Type: itemType, Kind: controller.OutputExclusive}},
		run:     lend(lent),
	})
	r.start()

	view := receive(t, lent)

	for _, res := range newItems(itemType, t.size) {
		t.check(view.Create(t.ctx, res))
	}

	last := pointer(itemType, itemID(t.size-1))

	t.until(func() bool {
		_, err := view.Get(t.ctx, last)

		return err == nil
	})

	t.measure(passes*t.size, func() {
		for pass := range passes {
			for number := range t.size {
				res, err := view.Get(t.ctx, pointer(itemType, itemID(number)))
				t.check(err)
				t.check(view.Modify(t.ctx, res, func(res resource.Resource) error {
					res.(*item).TypedSpec().Port = pass

					return nil
				}))
			}
		}
	})
}

// overlay is the least that shows whoever writes what was written, and does not go back behind it: what the watch has shown,
// and above it what was written and was not shown yet.
type overlay struct {
	mu             sync.Mutex
	shown, written map[resource.ID]resource.Resource
}

// show puts in what the watch has shown.
func (o *overlay) show(res resource.Resource) {
	md := res.Metadata()

	o.mu.Lock()
	defer o.mu.Unlock()

	o.shown[md.ID()] = res

	if own, ok := o.written[md.ID()]; ok && own.Metadata().Version().Value() <= md.Version().Value() {
		delete(o.written, md.ID())
	}
}

// write puts in what was written, unless the watch was quicker.
func (o *overlay) write(res resource.Resource) {
	md := res.Metadata()

	o.mu.Lock()
	defer o.mu.Unlock()

	if shown, ok := o.shown[md.ID()]; !ok || shown.Metadata().Version().Value() < md.Version().Value() {
		o.written[md.ID()] = res
	}
}

// get returns a copy of the newest.
func (o *overlay) get(id resource.ID) resource.Resource {
	o.mu.Lock()

	res, ok := o.written[id]
	if !ok {
		res = o.shown[id]
	}

	o.mu.Unlock()

	return res.DeepCopy()
}

// cachedOwnWritesFloor is the state's own update, its watch with a map behind it, and a map of what was written.
func cachedOwnWritesFloor(t *trial) {
	st := newState(1)
	o := &overlay{shown: map[resource.ID]resource.Resource{}, written: map[resource.ID]resource.Resource{}}

	t.follow(st, itemType, false, func(event state.Event) {
		if event.Type == state.Created || event.Type == state.Updated {
			o.show(event.Resource)
		}
	})

	for _, res := range newItems(itemType, t.size) {
		t.check(st.Create(t.ctx, res))
		o.write(res)
	}

	t.measure(passes*t.size, func() {
		for pass := range passes {
			for number := range t.size {
				now, err := st.UpdateWithConflicts(t.ctx, o.get(itemID(number)).Metadata(), func(res resource.Resource) error {
					res.(*item).TypedSpec().Port = pass

					return nil
				})
				t.check(err)
				o.write(now)
			}
		}
	})
}
