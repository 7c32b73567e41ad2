package stateadapter

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

// change is a call that writes, for those who ask which controller has made a change: its own adapter, and whoever looks for
// controllers that undo what others do.
type change struct {
	own    *origin.Write
	rivals *rivalry.Write
	// pass is the one that writes, or nil; on is the version that it writes on top of, once it has tried to.
	pass  *cause.Open
	verb  Verb
	on    resource.Version
	tried bool
	// asked tells that anybody asks at all, which for most controllers nobody does.
	asked bool
}

// changing begins a change of a resource, and destroying its end.
func (a *Adapter) changing(ctx context.Context, verb Verb, key reduced.Key, ptr resource.Pointer) change {
	if a.cfg.Own == nil && a.cfg.Trace == nil && a.rare == nil {
		return change{} // nobody may ask
	}

	return a.change(ctx, verb, a.cfg.Own.Write(ctx, key), ptr)
}

func (a *Adapter) destroying(ctx context.Context, key reduced.Key, ptr resource.Pointer) change {
	return a.change(ctx, Destroy, a.cfg.Own.Destroy(ctx, key), ptr)
}

func (a *Adapter) change(ctx context.Context, verb Verb, own *origin.Write, ptr resource.Pointer) change {
	c := change{own: own, pass: a.cfg.Trace.In(ctx), verb: verb}

	if a.rare != nil {
		c.rivals = a.rare.writer.Write(ptr)
	}

	c.asked = c.own != nil || c.rivals != nil || c.pass != nil

	return c
}

// onTopOf says that a version is about to be made on top of the one given.
func (c *change) onTopOf(version resource.Version) {
	if !c.asked {
		return
	}

	c.on, c.tried = version, true
	c.own.OnTopOf(version)
	c.rivals.OnTopOf(version)
}

// ending says that the resource is about to be destroyed.
func (c *change) ending() {
	c.own.Ending()
	c.rivals.Ending()
}

// made says what the resource is now.
func (c *change) made(res resource.Resource) {
	if !c.asked {
		return
	}

	md := res.Metadata()
	version := md.Version()

	if c.pass != nil && c.tried && !version.Equal(c.on) {
		c.pass.Wrote(string(c.verb), md, version.Value(), lifeOf(md))
	}

	c.own.Made(version)
	c.rivals.Made(res)
}

// ended says that the resource was destroyed.
func (c *change) ended(ptr resource.Pointer) {
	c.pass.Wrote(string(c.verb), ptr, 0, 0)
	c.own.Ended()
	c.rivals.Ended()
}

// end ends the call.
func (c *change) end() {
	if !c.asked {
		return
	}

	c.own.End()
	c.rivals.End()
}

// lifeOf returns when a resource was created, or 0 if it does not know: a state that is reached over a connection does not say.
func lifeOf(md *resource.Metadata) int64 {
	if created := md.Created(); !created.IsZero() {
		return created.UnixNano()
	}

	return 0
}
