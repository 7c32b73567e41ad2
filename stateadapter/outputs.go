package stateadapter

import (
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// outputs remembers what a pass has touched.
type outputs struct {
	// mu guards keys; nil keys mean that nothing is tracked.
	mu   sync.Mutex
	keys map[reduced.Key]struct{}
}

func (o *outputs) start() {
	o.mu.Lock()
	defer o.mu.Unlock()

	if len(o.keys) > 0 || o.keys == nil {
		o.keys = map[reduced.Key]struct{}{}
	}
}

func (o *outputs) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()

	o.keys = nil
}

func (o *outputs) tracking() bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.keys != nil
}

func (o *outputs) touch(ptr resource.Pointer) {
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.keys != nil {
		o.keys[reduced.KeyOf(ptr)] = struct{}{}
	}
}

func (o *outputs) touched(ptr resource.Pointer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()

	_, ok := o.keys[reduced.KeyOf(ptr)]

	return ok
}
