package api

import "time"

// Why is the answer to why a resource is as it is, or why a pass was made.
type Why struct {
	// Resource is what was asked about, or Pass.
	Resource *Ref     `json:"resource,omitempty"`
	Pass     *PassRef `json:"pass,omitempty"`
	// Says is what the resource says of itself in a line, or empty: where it has nothing to say, or may not be shown.
	Says string `json:"says,omitempty"`
	// Roots are where it began, the most telling first: what was done from outside, what has failed, who wakes whom in a circle.
	Roots []Root `json:"roots"`
	// Trees lead there: one for each controller that has written the resource, the latest first, or one for the pass.
	Trees []*WhyPass `json:"trees"`
	// Note says what limits the answer, or is empty: that nothing is remembered, or no longer.
	Note string `json:"note,omitempty"`
}

// RootKind is what kind of beginning a root is.
type RootKind string

// Kinds of roots.
const (
	// RootOutside is a change that no controller has made.
	RootOutside RootKind = "outside"
	// RootFailure is a pass that has failed and is made again.
	RootFailure RootKind = "failure"
	// RootLoop is controllers that wake each other, or one that wakes itself.
	RootLoop RootKind = "loop"
	// RootTimer is that a controller has asked to be run again.
	RootTimer RootKind = "timer"
	// RootStart is that the controller was started, or told to look at everything.
	RootStart RootKind = "start"
	// RootAsked is that somebody has asked for the pass.
	RootAsked RootKind = "asked"
	// RootForgotten is that what came before is no longer remembered.
	RootForgotten RootKind = "forgotten"
)

// Root is where it began.
type Root struct {
	Kind RootKind `json:"kind"`
	// Text says it in a sentence.
	Text string `json:"text"`
	// Resource is what was changed, if anything, and Pass the pass that was told of it.
	Resource *Ref     `json:"resource,omitempty"`
	Pass     *PassRef `json:"pass,omitempty"`
	// At is when it was noticed.
	At time.Time `json:"at"`
	// Times is how many passes it stands behind, of those that are remembered and have to do with the question.
	Times int `json:"times"`
}

// WhyPass is a pass in an answer, with what has caused it.
type WhyPass struct {
	Pass
	// Because is what has caused it, one for each of its causes.
	Because []Because `json:"because"`
	// Before is the failed pass, or the one that has asked to be made again, that this one repeats.
	Before *PassRef `json:"before,omitempty"`
	// BeforeFailure is why that one has failed, if it has.
	BeforeFailure string `json:"beforeFailure,omitempty"`
	// Repeats is the earlier pass that this one makes again since it has failed or waited, and that changes have caused.
	Repeats *WhyPass `json:"repeats,omitempty"`
	// Seen tells that the pass stands further up already, which comes of passes that ran at the same time. Elsewhere tells that its
	// causes stand in another branch of the answer, and Cut that the answer goes no further back. Own tells that it is an earlier
	// pass for the same, whose own change has come back together with that of others, which is no reason by itself.
	Seen      bool `json:"seen,omitempty"`
	Elsewhere bool `json:"elsewhere,omitempty"`
	Cut       bool `json:"cut,omitempty"`
	Own       bool `json:"own,omitempty"`
}

// Because is one cause, and who has made it.
type Because struct {
	Cause Cause `json:"cause"`
	// By are the passes that have made the changes, each with its own reasons.
	By []*WhyPass `json:"by,omitempty"`
	// Outside is how many changes no pass that is remembered has made, and Forgotten that some of them may have been made by one
	// that is not.
	Outside   int  `json:"outside,omitempty"`
	Forgotten bool `json:"forgotten,omitempty"`
	// Maybe is a pass that may have made what is not known to be made by others, since it has written more than is remembered.
	Maybe *WhyPass `json:"maybe,omitempty"`
}
