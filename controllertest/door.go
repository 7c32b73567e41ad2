package controllertest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// door is the state as one life of the engine sees it: what fails fails here, and what is written is noted. After a crash
// of the process nothing gets through any more.
type door struct {
	life  *life
	inner state.CoreState
}

var _ state.CoreState = (*door)(nil)

// Get implements [state.CoreState].
func (d *door) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	if err := d.before(ctx, "get "+short(ptr)); err != nil {
		return nil, err
	}

	return d.inner.Get(ctx, ptr, opts...)
}

// List implements [state.CoreState].
func (d *door) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	if err := d.before(ctx, "list "+shortType(kind.Type())); err != nil {
		return resource.List{}, err
	}

	return d.inner.List(ctx, kind, opts...)
}

// Create implements [state.CoreState].
func (d *door) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	return d.write(ctx, "create", res.Metadata(), func() error { return d.inner.Create(ctx, res, opts...) }, res)
}

// Update implements [state.CoreState].
func (d *door) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	return d.write(ctx, "update", res.Metadata(), func() error { return d.inner.Update(ctx, res, opts...) }, res)
}

// Destroy implements [state.CoreState].
func (d *door) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	return d.write(ctx, "destroy", ptr, func() error { return d.inner.Destroy(ctx, ptr, opts...) }, nil)
}

// before is what may happen to a call before it does anything. The site counts the calls of one pass or controller alone.
func (d *door) before(ctx context.Context, call string) error {
	w := d.life.world

	if d.life.dead.Load() {
		return errEnded
	}

	by := actorOf(ctx)
	if err := w.mayAct(ctx, by, call); err != nil {
		return err
	}

	if d.life.dead.Load() {
		return errEnded
	}

	if !w.mayFail() {
		return ctx.Err()
	}

	site := w.draws.nth(by.String() + " " + call)

	if w.draws.odds("delay "+site, w.faults.Delays) {
		if err := w.delay(ctx, by, call, time.Duration(1+w.draws.pick("seconds of "+site, 60))*time.Second); err != nil {
			return err
		}
	}

	if w.draws.odds("hold up "+site, w.faults.HoldUps) {
		w.trace.note(by.String(), "%s is held up", call)

		if err := w.takeTurn(ctx, resuming, by, by.String()+" goes on with "+call); err != nil {
			return err
		}
	}

	if d.life.dead.Load() {
		return errEnded
	}

	if w.draws.odds("error "+site, w.faults.Errors) {
		w.trace.note(by.String(), "%s fails", call)

		return disguised(call+" failed", w.draws.pick("disguise of "+site, len(disguises)))
	}

	return ctx.Err()
}

// delay has a call take its time, and a turn of its own afterwards.
func (w *World) delay(ctx context.Context, by *actor, call string, d time.Duration) error {
	w.trace.note(by.String(), "%s takes %s", call, d)

	timer := time.NewTimer(d)
	defer timer.Stop()

	w.delayed.Add(1)
	defer w.delayed.Add(-1)

	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}

	return w.takeTurn(ctx, resuming, by, by.String()+" goes on with "+call)
}

func (d *door) write(ctx context.Context, verb string, ptr resource.Pointer, do func() error, res resource.Resource) error {
	w, by := d.life.world, actorOf(ctx)
	call := verb + " " + short(ptr)

	w.saw(ptr)

	if err := d.before(ctx, call); err != nil {
		return err
	}

	crashes, site := noCrash, ""

	if w.mayFail() {
		site = w.draws.nth(by.String() + " writes " + call)

		if verb == "update" && w.draws.odds("conflict "+site, w.faults.Conflicts) {
			w.trace.note(by.String(), "%s meets a conflict", call)

			return conflict{injected(call + " conflicted"), ptr}
		}

		switch {
		case w.draws.odds("crash "+site, w.faults.Crashes):
			crashes = passBefore + w.draws.pick("crash when "+site, 2)
		case w.draws.odds("restart "+site, w.faults.Restarts):
			crashes = processBefore + w.draws.pick("restart when "+site, 2)
		}
	}

	if crashes == passBefore || crashes == processBefore {
		d.life.crash(by, "before "+call, crashes == processBefore)
	}

	err := do()
	if err != nil {
		w.trace.note(by.String(), "%s: %s", call, err)

		return err
	}

	number, said := w.wrote(), describe(call, res)
	w.trace.note(by.String(), "%s", said)
	w.note(by.String()+": "+said, res)

	if res != nil {
		w.news.wrote(ptr, res.Metadata().Version(), by.String())
	} else {
		w.news.destroyed(ptr, by.String())
	}

	switch {
	case crashes != noCrash:
		d.life.crash(by, "after "+call, crashes == processAfter)
	case w.plan.write > 0 && w.plan.write == number:
		d.life.crash(by, "after "+call, w.plan.process)
	case site != "" && w.draws.odds("answer "+site, w.faults.LostAnswers):
		w.trace.note(by.String(), "the answer to %s is lost", call)

		return injected("the answer to " + call + " was lost")
	}

	return nil
}

// describe tells what was written.
func describe(call string, res resource.Resource) string {
	if res == nil {
		return call
	}

	md := res.Metadata()

	var out strings.Builder

	fmt.Fprintf(&out, "%s v%s", call, md.Version())

	if md.Phase() != resource.PhaseRunning {
		fmt.Fprintf(&out, " %s", md.Phase())
	}

	if fins := *md.Finalizers(); len(fins) > 0 {
		fmt.Fprintf(&out, " held by %s", strings.Join(fins, ", "))
	}

	if spec := contents(res); spec != "" {
		fmt.Fprintf(&out, " %s", spec)
	}

	return out.String()
}

// longest is how many bytes of a specification a trace shows.
const longest = 120

func contents(res resource.Resource) string {
	if resource.IsTombstone(res) {
		return ""
	}

	spec := strings.TrimPrefix(fmt.Sprintf("%+v", res.Spec()), "&")
	if len(spec) > longest {
		spec = spec[:longest] + "…"
	}

	return spec
}
