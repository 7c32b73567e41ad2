package cause

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/switchyard-run/switchyard/contain"
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
	// Waited is how long that had waited which the pass was for, as [Timings] say; 0 where nothing has.
	Waited time.Duration
	// Outcome is what has come of it, Failure the error if it has failed, and Again when it is to be made again, 0 for not by
	// itself. Stack is where it has failed if that was a panic: the first few KiB of it, with the lines that are nearest.
	Outcome Outcome
	Failure string
	Stack   string
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

// Passes returns the passes that are remembered, the last one first. Half of the places are kept for those that have written something,
// so that there may be gaps before them.
func (t *Tracer) Passes() []Pass { return t.PassesSince(0) }

// Lost returns when the last pass has ended that has written something and is not remembered any more; zero is that all of them are.
func (t *Tracer) Lost() (at time.Time) {
	for _, r := range t.all() {
		r.mu.Lock()
		lost := r.lost
		r.mu.Unlock()

		if ended := t.epoch.Add(lost); lost > 0 && ended.After(at) {
			at = ended
		}
	}

	return at
}

// PassesSince is [Tracer.Passes] for those numbered above a number. It looks at nothing if there is none. [Follow] says for whom
// it is.
func (t *Tracer) PassesSince(number uint64) (all []Pass) {
	if t.Count() <= number {
		return nil
	}

	for _, r := range t.all() {
		all = r.appendTo(all, number)
	}

	slices.SortFunc(all, func(a, b Pass) int { return cmp.Compare(b.Number, a.Number) })

	return all
}

func (r *ring) appendTo(all []Pass, since uint64) []Pass {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, o := range r.passes {
		if o.number > since {
			all = append(all, o.passLocked())
		}
	}

	return all
}

// Follow returns the number above which somebody asks next who was told of the passes numbered above a number: that of the
// last one or, if some of them still ran, one below the first of these, so that what has come of it is told as well.
func Follow(passes []Pass, number uint64) uint64 {
	for i := range passes {
		number = max(number, passes[i].Number)
	}

	for i := range passes {
		if passes[i].Outcome == Running {
			number = min(number, passes[i].Number-1)
		}
	}

	return number
}

// mostStack is how much of a stack is remembered.
const mostStack = 4 << 10

// stackOf returns where an error has happened, if it was a panic.
func stackOf(failure error) string {
	stack := contain.Stack(failure)
	if len(stack) > mostStack {
		stack = stack[:bytes.LastIndexByte(stack[:mostStack], '\n')+1]
	}

	return string(stack)
}
