package cause

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-run/switchyard/reduced"
)

// Doing is what a pass does.
type Doing uint8

// What passes do.
const (
	// Reconciling is one call of Reconcile.
	Reconciling Doing = iota
	// Mapping is the mapping of one resource by MapInput.
	Mapping
	// Waking is what a classic controller does after a wakeup.
	Waking
	// Hooking is a call of a run hook.
	Hooking
)

var doingNames = [...]string{"reconcile", "map", "run", "hook"}

// String names what is done.
func (d Doing) String() string { return doingNames[d] }

// Outcome is what has come of a pass.
type Outcome uint8

// Outcomes of passes.
const (
	// Running is that it has not ended.
	Running Outcome = iota
	// Succeeded is that all is done.
	Succeeded
	// Skipped is that the controller has asked to be left alone until the next change.
	Skipped
	// Requeued is that it has asked to run again.
	Requeued
	// Failed is that it is tried again.
	Failed
	// Stopped is that the controller was told to stop meanwhile.
	Stopped
)

var outcomeNames = [...]string{"running", "succeeded", "skipped", "requeued", "failed", "stopped"}

// String names the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Access is a read or a write of a pass.
type Access struct {
	// Resource is what was accessed; with an empty id several of a kind were listed.
	Resource reduced.Key
	// Verb is what was done, empty for a read.
	Verb string
	// Version is what was read, or what came of the write. It is 0 where nothing was there, or where the state does not say what
	// came of the write.
	Version uint64
	// Life is when what was written was created, in nanoseconds; 0 is not known.
	Life int64
}

// String says what was accessed.
func (a Access) String() string {
	text := a.Resource.String()
	if a.Verb != "" {
		text = a.Verb + " " + text
	}

	if a.Version != 0 {
		text += fmt.Sprintf(" v%d", a.Version)
	}

	return text
}

// Pass is one pass of a controller.
type Pass struct {
	// Controller and Number tell the pass from all others of one engine. Numbers count the passes of a controller from 1 on.
	Controller string
	Number     uint64
	// Doing is what is called, and Item what for; it is empty for a classic controller.
	Doing Doing
	Item  reduced.Key
	// Began and Ended are when; while it runs Ended is zero.
	Began, Ended time.Time
	// Outcome is what has come of it, Failure the error if it has failed, and Again when it is to be made again, 0 for not by
	// itself.
	Outcome Outcome
	Failure string
	Again   time.Duration

	// Causes are the resources whose changes have woken the controller, and More is how many changes there were beside.
	Causes []Cause
	More   uint64
	// Reasons are what else there was.
	Reasons Reasons

	// Reads and Writes are the first ones, in order; MoreReads and MoreWrites count the others.
	Reads, Writes         []Access
	MoreReads, MoreWrites int
}

// Passes returns the passes that are remembered, the last one first.
func (t *Tracer) Passes() []Pass {
	if t == nil {
		return nil
	}

	var all []Pass

	for i := range t.rings {
		all = t.rings[i].appendTo(all)
	}

	slices.SortFunc(all, func(a, b Pass) int { return cmp.Compare(b.Number, a.Number) })

	return all
}

func (r *ring) appendTo(all []Pass) []Pass {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, o := range r.passes {
		all = append(all, o.passLocked())
	}

	return all
}

func (o *Open) passLocked() Pass {
	epoch := o.ring.tracer.epoch
	p := Pass{
		Controller: o.ring.tracer.cfg.Controller, Number: o.number, Doing: o.doing, Item: o.item,
		Began: epoch.Add(o.began), Outcome: o.outcome, Failure: o.failure, Again: o.again,
		Causes: slices.Clone(o.causes.causes), More: o.causes.more, Reasons: o.reasons,
		Reads: slices.Clone(o.reads), Writes: slices.Clone(o.writes), MoreReads: o.moreReads, MoreWrites: o.moreWrites,
	}

	if o.outcome != Running {
		p.Ended = epoch.Add(o.end)
	}

	return p
}
