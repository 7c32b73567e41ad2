package api

import "time"

// State is what a controller is doing, in one word.
type State string

// States of controllers. The first that holds counts, in this order: a controller that is stuck may be backing off as well.
const (
	// Stopped is that it was stopped, or unregistered.
	Stopped State = "stopped"
	// Finished is that its Run has returned for good.
	Finished State = "finished"
	// Stuck is that a pass runs, or work waits, for longer than the engine is told to put up with.
	Stuck State = "stuck"
	// BackingOff is that it has failed, or an item of it has, and is tried again.
	BackingOff State = "backing-off"
	// Paused is that it is given no work.
	Paused State = "paused"
	// Registered is that it was not started yet.
	Registered State = "registered"
	// Running is that a pass runs, or items are ready.
	Running State = "running"
	// Waiting is that it has nothing to do.
	Waiting State = "waiting"
)

// States are all states, the most alarming first.
func States() []State {
	return []State{Stuck, BackingOff, Paused, Stopped, Running, Registered, Finished, Waiting}
}

// Controller is a controller in short.
type Controller struct {
	Name string `json:"name"`
	// Queue tells a queue controller.
	Queue bool  `json:"queue"`
	State State `json:"state"`
	// Since is since when its phase is what it is.
	Since time.Time `json:"since"`
	// Passes counts the passes that it has made; it is 0 where nothing is remembered of them.
	Passes uint64 `json:"passes"`
	// Ready, Delayed, Processing, Failing and Damped count the items of a queue controller.
	Ready      int `json:"ready,omitempty"`
	Delayed    int `json:"delayed,omitempty"`
	Processing int `json:"processing,omitempty"`
	Failing    int `json:"failing,omitempty"`
	Damped     int `json:"damped,omitempty"`
	// OldestWait is how long the item has waited that has waited longest.
	OldestWait Seconds `json:"oldestWait,omitempty"`
	// Problem is what is wrong with it in a sentence, or empty.
	Problem string `json:"problem,omitempty"`
}

// Input is an input of a controller.
type Input struct {
	Ref
	// Kind is the kind of the input, as "q-primary".
	Kind string `json:"kind"`
}

// Output is an output of a controller: a type in any namespace.
type Output struct {
	Type string `json:"type"`
	// Kind is "exclusive" or "shared".
	Kind string `json:"kind"`
}

// ControllerDetail is all there is to say about a controller.
type ControllerDetail struct {
	Controller

	Inputs  []Input  `json:"inputs"`
	Outputs []Output `json:"outputs"`
	// LastError is the last failure since the last success, Attempt which one in a row, and NextTry when it is tried again.
	LastError string     `json:"lastError,omitempty"`
	Attempt   int        `json:"attempt,omitempty"`
	NextTry   *time.Time `json:"nextTry,omitempty"`
	// BusySince is since when its longest pass runs, and Doing on what.
	BusySince *time.Time `json:"busySince,omitempty"`
	Doing     string     `json:"doing,omitempty"`
	// PausedSince is since when it is given no work.
	PausedSince *time.Time `json:"pausedSince,omitempty"`
	// DampedItem is the item that the controller wakes itself for most of all.
	DampedItem string `json:"dampedItem,omitempty"`
	// Causes are what has woken it, over the passes that are remembered, the most frequent first.
	Causes []CauseCount `json:"causes"`
	// LastPasses are the passes that are remembered, the latest first.
	LastPasses []Pass `json:"lastPasses"`
}

// CauseCount is how often passes were made for one reason.
type CauseCount struct {
	// Text says why, as "Hosts(net/web): spec, by Recorder" or "retry".
	Text string `json:"text"`
	// Passes is how many of the remembered ones.
	Passes int `json:"passes"`
}
