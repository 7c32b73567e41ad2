package operated

import (
	"maps"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
)

// registry is the outside world: which site has a record in it, and in which of its lives. It outlives the process.
type registry struct {
	stumbler *stumbler

	// mu guards the records.
	mu      sync.Mutex
	records map[resource.ID]string
}

// put makes a record. It may fail before or after that.
func (r *registry) put(id resource.ID, life string) error {
	return r.change("the record of "+id, func() {
		if other := r.records[id]; other != "" && other != life {
			r.stumbler.world.Errorf("%s has a record of life %s still, in its life %s", id, other, life)
		}

		r.records[id] = life
	})
}

func (r *registry) remove(id resource.ID, life string) error {
	return r.change("the end of the record of "+id, func() {
		if other := r.records[id]; other != "" && other != life {
			r.stumbler.world.Errorf("the record of life %s of %s is removed in its life %s", other, id, life)
		}

		delete(r.records, id)
	})
}

func (r *registry) change(what string, do func()) error {
	how := r.stumbler.chance(what, 12)
	if how == 1 {
		return errStumbled
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	do()

	if how == 2 {
		return errStumbled
	}

	return nil
}

func (r *registry) all() map[resource.ID]string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return maps.Clone(r.records)
}
