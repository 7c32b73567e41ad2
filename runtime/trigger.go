package runtime

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Trigger has a controller run from code, as if something had changed: a classic controller is woken and takes no
// pointers; a queue controller reconciles the resources, or without pointers all its known primary inputs, behind live
// changes. It does not wait. A wrong pointer is an error that names it, and then none is queued.
func (r *Runtime) Trigger(name string, pointers ...resource.Pointer) error {
	e, err := r.find(name)
	if err != nil {
		return err
	}

	if e.classic != nil {
		if len(pointers) > 0 {
			return r.describe(name, fmt.Errorf("it is a classic controller, which is woken as a whole: leave out the %d pointers", len(pointers)))
		}

		e.classic.QueueReconcile()

		return nil
	}

	if len(pointers) == 0 {
		r.fill(e, nil)

		return nil
	}

	keys := make([]reduced.Key, len(pointers))

	for i, ptr := range pointers {
		if ptr == nil {
			return r.describe(name, fmt.Errorf("pointer %d is nil", i))
		}

		keys[i] = reduced.KeyOf(ptr)
	}

	if err := e.queue.Trigger(keys); err != nil {
		return r.describe(name, err)
	}

	return nil
}
