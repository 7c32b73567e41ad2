package api

import "time"

// Cause is a resource whose changes have woken a controller.
type Cause struct {
	Resource Ref `json:"resource"`
	// Input is the kind of input through which the controller was told.
	Input string `json:"input"`
	// From is the version before the first change, 0 if there was none, and To the one after the last.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	// Events is how many changes there were.
	Events uint32 `json:"events"`
	// Changed is what they have changed.
	Changed []string `json:"changed"`
	// Text is the cause in a line.
	Text string `json:"text"`
}

// Access is a read or a write of a pass.
type Access struct {
	// Resource is what was accessed; with an empty id several were listed.
	Resource Ref `json:"resource"`
	// Verb is what was done; it is empty for a read.
	Verb string `json:"verb,omitempty"`
	// Version is what was read, or what came of the write; 0 is that nothing was there, or that it is not known.
	Version uint64 `json:"version"`
}

// Pass is one pass of a controller.
type Pass struct {
	PassRef
	// Doing is "reconcile", "map", "run" or "hook", and Item what for.
	Doing string `json:"doing"`
	Item  *Ref   `json:"item,omitempty"`

	Began time.Time `json:"began"`
	// Took is how long it has run, so far if it runs.
	Took Seconds `json:"took"`
	// Outcome is "running", "succeeded", "skipped", "requeued", "failed" or "stopped".
	Outcome string `json:"outcome"`
	// Failure is the error, and Stack where the controller has panicked, if it has.
	Failure string `json:"failure,omitempty"`
	Stack   string `json:"stack,omitempty"`
	// Again is when it is made again, after its end; 0 is not by itself.
	Again Seconds `json:"again,omitempty"`

	// Causes are the resources whose changes have woken the controller, More is how many changes there were beside, and Reasons
	// what else there was: "start or resync", "retry", "timer", "asked for", "mapped", "start".
	Causes  []Cause  `json:"causes"`
	More    uint64   `json:"more,omitempty"`
	Reasons []string `json:"reasons,omitempty"`

	// Reads and Writes are the first ones; MoreReads and MoreWrites count the others.
	Reads      []Access `json:"reads"`
	MoreReads  int      `json:"moreReads,omitempty"`
	Writes     []Access `json:"writes"`
	MoreWrites int      `json:"moreWrites,omitempty"`

	// Title is the pass in a line.
	Title string `json:"title"`
}
