package stateadapter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// own holds the registers of what the controller has written to cached kinds, through which it reads them.
type own struct {
	registers atomic.Pointer[[]register]

	// mu is held to add a register.
	mu sync.Mutex
}

type register struct {
	collection *cache.Collection
	writes     *cache.Writes
}

// of returns the register for the collection, or nil if nothing was written to it yet.
func (o *own) of(c *cache.Collection) *cache.Writes {
	if all := o.registers.Load(); all != nil {
		for i := range *all {
			if (*all)[i].collection == c {
				return (*all)[i].writes
			}
		}
	}

	return nil
}

// unseen tells whether the cache may show less of the resource than the controller has written.
func (o *own) unseen(c *cache.Collection, id resource.ID) bool {
	w := o.of(c)

	return w != nil && w.Unseen(id)
}

func (o *own) add(c *cache.Collection) *cache.Writes {
	o.mu.Lock()
	defer o.mu.Unlock()

	if w := o.of(c); w != nil {
		return w
	}

	added := register{c, c.Writes()}

	var all []register
	if old := o.registers.Load(); old != nil {
		all = slices.Clone(*old)
	}

	all = append(all, added)
	o.registers.Store(&all)

	return added.writes
}

// begin notes a write, if the resource is cached.
func (a *Adapter) begin(key reduced.Key) cache.Write {
	c := a.cfg.Cache.Collection(key.Kind)
	if c == nil {
		return cache.Write{}
	}

	w := a.own.of(c)
	if w == nil {
		w = a.own.add(c)
	}

	return w.Begin(key.ID)
}

// learn finds out which incarnation of the resource a write is about to end. If the state does not say, the write must not
// be made: what it ends could not be told from what is there when the cache shows it later.
func (a *Adapter) learn(ctx context.Context, verb Verb, ptr resource.Pointer, write *cache.Write) error {
	if write.Known() {
		return nil
	}

	res, err := a.cfg.State.Get(ctx, ptr)

	switch {
	case err == nil:
		write.Learn(res)
	case !state.IsNotFoundError(err): // what is not there is the state's to refuse
		return fmt.Errorf("controller %q could not %s %s, which its cache does not show, before reading it: %w", a.cfg.Name, verb, reduced.KeyOf(ptr), err)
	}

	return nil
}

// created tells what a creation came to. A remote state does not tell when it has created the resource, and is asked.
func (a *Adapter) created(ctx context.Context, write *cache.Write, res resource.Resource, before time.Time) {
	if !write.Followed() || !res.Metadata().Created().Equal(before) {
		write.Wrote(res)
	} else {
		a.wrote(ctx, write, res)
	}
}

// updated tells what an update came to. A remote state leaves the resource with the time of creation that it came with,
// which is its maker's where it was never read. So where that is not what is known, the state is asked.
func (a *Adapter) updated(ctx context.Context, write *cache.Write, res resource.Resource) {
	if !write.Followed() || write.Knows(res) {
		write.Wrote(res)
	} else {
		a.wrote(ctx, write, res)
	}
}

// wrote asks the state what a write came to.
func (a *Adapter) wrote(ctx context.Context, write *cache.Write, res resource.Resource) {
	now, err := a.cfg.State.Get(ctx, res.Metadata())

	switch {
	case err == nil:
		write.Wrote(now)
	case !state.IsNotFoundError(err): // it is gone again, and nobody will miss it
		write.WroteUnknown()
	}
}

// newest returns what the cache shows of a resource, or of all of the kind with an empty id, and the controller's own
// writes. While no engine runs, ok is false.
func (a *Adapter) newest(ctx context.Context, verb Verb, key reduced.Key, c *cache.Collection) (view cache.View, ok bool, err error) {
	w := a.own.of(c)
	if w == nil {
		view, ok, err = c.View(ctx, a.cfg.Name)
	} else {
		view, ok, err = w.View(ctx, a.cfg.Name, key.ID, func(id resource.ID) (resource.Resource, error) {
			a.cfg.Metrics.Read()

			return a.cfg.State.Get(ctx, reduced.Key{Kind: key.Kind, ID: id}.Pointer())
		})
	}

	switch {
	case err == nil:
		return view, ok, nil
	case !c.Synced():
		return view, false, a.unsynced(verb, key, err)
	default:
		return view, false, fmt.Errorf("controller %q could not %s %s: the cache does not show what it wrote yet, and neither does the state: %w", a.cfg.Name, verb, key, err)
	}
}
