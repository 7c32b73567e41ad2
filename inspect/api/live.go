package api

import (
	"cmp"
	"slices"
	"time"
)

// Names of the events of the streams.
const (
	// EventOverview has an [Overview]. It is the first event of a live stream, and no other one.
	EventOverview = "overview"
	// EventChange has a [Change].
	EventChange = "change"
	// EventPass has a [Pass] that has ended.
	EventPass = "pass"
	// EventDropped has a [Dropped].
	EventDropped = "dropped"
)

// Change is what has changed between two looks at an engine. What is not in it is as it was.
type Change struct {
	// At is the moment, Running whether the engine runs, and Revision tells whether declarations have changed.
	At       time.Time `json:"at"`
	Running  bool      `json:"running"`
	Revision uint64    `json:"revision"`
	// Controllers are those that are new or different, and Gone the names of those that are not registered any more.
	Controllers []Controller `json:"controllers,omitempty"`
	Gone        []string     `json:"gone,omitempty"`
	// Kinds are those that are new or different, and GoneKinds those that are not watched any more.
	Kinds     []Kind `json:"kinds,omitempty"`
	GoneKinds []Ref  `json:"goneKinds,omitempty"`
	// Problems and Findings are all of them, if they are different.
	Problems *[]string  `json:"problems,omitempty"`
	Findings *[]Finding `json:"findings,omitempty"`
	// Passes, Wakeups and Writes are the rates that are different. One that is 0 is over.
	Passes  []PassRate   `json:"passes,omitempty"`
	Wakeups []WakeupRate `json:"wakeups,omitempty"`
	Writes  []WriteRate  `json:"writes,omitempty"`
}

// PassRate is how many passes a controller makes.
type PassRate struct {
	Controller string  `json:"controller"`
	PerSecond  float64 `json:"perSecond"`
}

// WakeupRate is how many changes come to a controller through one of its inputs.
type WakeupRate struct {
	Controller string  `json:"controller"`
	Input      Input   `json:"input"`
	PerSecond  float64 `json:"perSecond"`
}

// WriteRate is how many writes a controller makes through one of its outputs, to any namespace.
type WriteRate struct {
	Controller string  `json:"controller"`
	Type       string  `json:"type"`
	PerSecond  float64 `json:"perSecond"`
}

// Dropped is passes that a stream does not tell of.
type Dropped struct {
	// Passes is how many there were, and Controllers whose, as far as that is known.
	Passes      uint64        `json:"passes"`
	Controllers []DroppedPart `json:"controllers"`
	// Why says why in a sentence.
	Why string `json:"why"`
}

// DroppedPart is how many passes of one controller a stream does not tell of.
type DroppedPart struct {
	Controller string `json:"controller"`
	Passes     uint64 `json:"passes"`
}

// Live is an engine as a live stream shows it: the overview, as the changes have left it, and the rates.
type Live struct {
	Overview

	// Passes, Wakeups and Writes are the rates that are not 0.
	Passes  map[string]float64
	Wakeups map[string]map[Input]float64
	Writes  map[string]map[string]float64
}

// NewLive begins with an overview.
func NewLive(o *Overview) *Live {
	return &Live{
		Overview: *o, Passes: map[string]float64{}, Wakeups: map[string]map[Input]float64{}, Writes: map[string]map[string]float64{},
	}
}

// Apply takes a change in.
func (l *Live) Apply(c *Change) {
	l.At, l.Running, l.Revision = c.At, c.Running, c.Revision

	l.Controllers = merge(l.Controllers, c.Controllers, c.Gone, func(c Controller) string { return c.Name }, cmp.Compare)
	l.Kinds = merge(l.Kinds, c.Kinds, c.GoneKinds, Kind.ref, Ref.Compare)

	if c.Problems != nil {
		l.Problems = *c.Problems
	}

	if c.Findings != nil {
		l.Findings = *c.Findings
	}

	for _, name := range c.Gone {
		delete(l.Passes, name)
		delete(l.Wakeups, name)
		delete(l.Writes, name)
	}

	for _, r := range c.Passes {
		set(l.Passes, r.Controller, r.PerSecond)
	}

	for _, r := range c.Wakeups {
		setIn(l.Wakeups, r.Controller, r.Input, r.PerSecond)
	}

	for _, r := range c.Writes {
		setIn(l.Writes, r.Controller, r.Type, r.PerSecond)
	}
}

func (k Kind) ref() Ref { return Ref{Namespace: k.Namespace, Type: k.Type} }

// merge returns a list in order of its keys with some items new or different, and others gone. The list itself stays as it is.
func merge[T any, K comparable](list, changed []T, gone []K, key func(T) K, compare func(a, b K) int) []T {
	if len(changed) == 0 && len(gone) == 0 {
		return list
	}

	out := map[K]bool{}

	for _, k := range gone {
		out[k] = true
	}

	for i := range changed {
		out[key(changed[i])] = true
	}

	list = slices.DeleteFunc(slices.Clone(list), func(item T) bool { return out[key(item)] })
	list = append(list, changed...)
	slices.SortFunc(list, func(a, b T) int { return compare(key(a), key(b)) })

	return list
}

func set[K comparable](rates map[K]float64, key K, rate float64) {
	if rate == 0 {
		delete(rates, key)
	} else {
		rates[key] = rate
	}
}

func setIn[K comparable](rates map[string]map[K]float64, controller string, key K, rate float64) {
	of := rates[controller]
	if of == nil {
		of = map[K]float64{}
		rates[controller] = of
	}

	if set(of, key, rate); len(of) == 0 {
		delete(rates, controller)
	}
}
