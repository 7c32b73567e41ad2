// Package api owns the documents in which a running engine answers questions: what its controllers do, why they have run, what
// a resource waits for. They are what package answer makes, what the pages show, what is sent under /api/v1/, and what the
// command line prints.
//
// The documents are plain data: they link no engine, and their JSON form is the wire format. Names in them may be anything.
// Fields may be added; the meaning of those that are there does not change within a version.
//
// The package keeps no state and starts no goroutine.
package api

import (
	"cmp"
	"fmt"
	"time"
)

// Ref names a resource. An empty id stands for all of a kind.
type Ref struct {
	Namespace string `json:"namespace"`
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
}

// String is the resource as the contract writes it, as "Hosts(net/web)".
func (r Ref) String() string { return fmt.Sprintf("%s(%s/%s)", r.Type, r.Namespace, r.ID) }

// Compare orders resources by namespace, type and id.
func (r Ref) Compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, other.Namespace), cmp.Compare(r.Type, other.Type), cmp.Compare(r.ID, other.ID))
}

// PassRef names a pass of a controller.
type PassRef struct {
	Controller string `json:"controller"`
	Number     uint64 `json:"number"`
}

// String is the pass as "Recorder #3".
func (r PassRef) String() string { return fmt.Sprintf("%s #%d", r.Controller, r.Number) }

// Compare orders passes by controller and number.
func (r PassRef) Compare(other PassRef) int {
	return cmp.Or(cmp.Compare(r.Controller, other.Controller), cmp.Compare(r.Number, other.Number))
}

// Seconds is a length of time, in seconds.
type Seconds float64

// SecondsOf returns a duration in seconds.
func SecondsOf(d time.Duration) Seconds { return Seconds(d.Seconds()) }

// Duration returns it as a duration.
func (s Seconds) Duration() time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// String is the length to three digits or so, as "1.25s".
func (s Seconds) String() string {
	d := s.Duration()

	for unit := time.Hour; unit >= time.Nanosecond; unit /= 10 {
		if d >= unit*100 {
			return d.Round(unit).String()
		}
	}

	return d.String()
}
