package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/runtime"
)

// What a writer does, by chance. The share of ids of which there is a resource comes out of it: a tenth of the writes to
// a resource end it, and half of those that end come back at once, the others when their id is drawn again.
const (
	present = 1 / (1 + ends*(1-returns))
	ends    = 0.1
	returns = 0.5
	// relabels is how many of the other writes change a label, too.
	relabels = 0.3
	// ofNotes and ofSelections are how many writes are about them.
	ofNotes, ofSelections = 0.2, 0.03
	// bursts is how often a writer does not wait for its next turns, and burst how many turns those are: more than the
	// state keeps events.
	bursts, burst = 0.003, 2 * history

	buckets  = 12
	selected = 8
	largest  = 1000
)

// writer changes the sources of a group.
type writer struct {
	group  *group
	engine *runtime.Runtime
	every  time.Duration
	// patience is how long the engine may take to unregister a controller.
	patience time.Duration

	// The fields below belong to who holds the group's writing.
	dice *rand.Rand
	// going are sources that are being torn down.
	going []resource.ID
}

// run writes until the context ends.
func (w *writer) run(ctx context.Context) error {
	turns := time.NewTicker(w.every)
	defer turns.Stop()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-turns.C:
		}

		if err := w.turn(ctx); err != nil && ctx.Err() == nil {
			return fmt.Errorf("the writer of %s: %w", w.group, err)
		}
	}
}

func (w *writer) turn(ctx context.Context) error {
	w.group.writing.Lock()
	defer w.group.writing.Unlock()

	writes := 1
	if w.chance(bursts) {
		writes = burst
	}

	for range writes {
		if ctx.Err() != nil {
			return nil
		}

		if err := errors.Join(w.end(ctx), w.write(ctx)); err != nil {
			return err
		}
	}

	return w.reregister(ctx)
}

// fill writes the sources that a group begins with.
func (w *writer) fill(ctx context.Context) error {
	w.group.writing.Lock()
	defer w.group.writing.Unlock()

	for _, kind := range []string{sources, notes} {
		for _, id := range w.idsOf(kind) {
			if w.chance(present) {
				if err := w.create(ctx, kind, id); err != nil {
					return err
				}
			}
		}
	}

	return w.create(ctx, selections, theSelection)
}

func (w *writer) chance(probability float64) bool { return w.dice.Float64() < probability }

func (w *writer) idsOf(kind string) []resource.ID {
	if kind == notes {
		return w.group.ids.notes
	}

	return w.group.ids.sources
}

func (w *writer) draw(kind string) resource.ID {
	ids := w.idsOf(kind)

	return ids[w.dice.IntN(len(ids))]
}

// write makes one write.
func (w *writer) write(ctx context.Context) error {
	w.group.faults.ledger.writes.Add(1)

	switch roll := w.dice.Float64(); {
	case roll < ofSelections:
		return w.change(ctx, selections, theSelection)
	case roll < ofSelections+ofNotes:
		return w.touch(ctx, notes, w.draw(notes))
	default:
		return w.touch(ctx, sources, w.draw(sources))
	}
}

// touch creates a resource that is not there, and ends or changes one that is.
func (w *writer) touch(ctx context.Context, kind string, id resource.ID) error {
	_, err := w.group.plain.Get(ctx, w.group.pointer(kind, id))

	switch {
	case state.IsNotFoundError(err):
		return w.create(ctx, kind, id)
	case err != nil:
		return err
	case kind == sources && slices.Contains(w.going, id):
		return nil
	case !w.chance(ends):
		return w.change(ctx, kind, id)
	case kind == notes: // nobody holds them
		return w.destroy(ctx, kind, id)
	default:
		w.going = append(w.going, id)

		_, err = w.group.plain.Teardown(ctx, w.group.pointer(kind, id))

		return err
	}
}

// end destroys the sources that nobody holds any more.
func (w *writer) end(ctx context.Context) error {
	held := w.going[:0]

	for _, id := range w.going {
		source, err := w.group.plain.Get(ctx, w.group.pointer(sources, id))

		switch {
		case err != nil:
			return err
		case !source.Metadata().Finalizers().Empty():
			held = append(held, id)
		default:
			if err = w.destroy(ctx, sources, id); err != nil {
				return err
			}
		}
	}

	w.going = held

	return nil
}

func (w *writer) destroy(ctx context.Context, kind string, id resource.ID) error {
	if err := w.group.plain.Destroy(ctx, w.group.pointer(kind, id)); err != nil {
		return err
	}

	if !w.chance(returns) {
		return nil
	}

	return w.create(ctx, kind, id)
}

func (w *writer) create(ctx context.Context, kind string, id resource.ID) error {
	res := newRecord(w.group.pointer(kind, id))
	w.set(kind, res, true)

	return w.group.plain.Create(ctx, res)
}

// change gives a resource a new value, and perhaps another label.
func (w *writer) change(ctx context.Context, kind string, id resource.ID) error {
	relabel := w.chance(relabels)

	_, err := w.group.plain.UpdateWithConflicts(ctx, w.group.pointer(kind, id), func(res resource.Resource) error {
		w.set(kind, res, relabel)

		return nil
	})

	return err
}

func (w *writer) set(kind string, res resource.Resource, relabel bool) {
	spec, labels := specOf(res), res.Metadata().Labels()

	switch kind {
	case selections:
		drawn := map[resource.ID]bool{}
		spec.IDs = nil

		for len(spec.IDs) < selected {
			if id := w.draw(sources); !drawn[id] {
				drawn[id] = true
				spec.IDs = append(spec.IDs, id)
			}
		}

		return
	case notes:
		if relabel {
			labels.Set(aboutLabel, w.draw(sources))
		}
	case sources:
		if relabel {
			labels.Set(bucketLabel, fmt.Sprintf("bucket-%02d", w.dice.IntN(buckets)))
		}
	}

	spec.Value = w.dice.Int64N(largest)
}

// reregister takes a controller away now and then, and registers another of the same name.
func (w *writer) reregister(ctx context.Context) error {
	if !w.group.faults.strikes(unregistered) {
		return nil
	}

	role := w.dice.IntN(len(roles))

	patient, cancel := context.WithTimeout(ctx, w.patience)
	defer cancel()

	if err := w.engine.Unregister(patient, w.group.controller(role)); err != nil {
		return err
	}

	return w.group.register(w.engine, role)
}
