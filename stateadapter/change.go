package stateadapter

import (
	"context"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/origin"
	"github.com/switchyard-run/switchyard/rivalry"
)

// change is a call that writes, for those who ask which controller has made a change: its own adapter, and whoever looks for
// controllers that undo what others do.
type change struct {
	own    *origin.Write
	rivals *rivalry.Write
}

// changing begins a change of a resource, and destroying its end.
func (a *Adapter) changing(ctx context.Context, ptr resource.Pointer) change {
	return change{a.cfg.Own.Write(ctx, ptr), a.shared(ptr)}
}

func (a *Adapter) destroying(ctx context.Context, ptr resource.Pointer) change {
	return change{a.cfg.Own.Destroy(ctx, ptr), a.shared(ptr)}
}

// shared is a write of a controller that shares outputs with others.
func (a *Adapter) shared(ptr resource.Pointer) *rivalry.Write {
	if a.rare == nil {
		return nil
	}

	return a.rare.writer.Write(ptr)
}

// onTopOf says that a version is about to be made on top of the one given.
func (c change) onTopOf(version resource.Version) {
	c.own.OnTopOf(version)
	c.rivals.OnTopOf(version)
}

// ending says that the resource is about to be destroyed.
func (c change) ending() {
	c.own.Ending()
	c.rivals.Ending()
}

// made says what the resource is now.
func (c change) made(res resource.Resource) {
	c.own.Made(res.Metadata().Version())
	c.rivals.Made(res)
}

// ended says that the resource was destroyed.
func (c change) ended() {
	c.own.Ended()
	c.rivals.Ended()
}

// end ends the call.
func (c change) end() {
	c.own.End()
	c.rivals.End()
}
