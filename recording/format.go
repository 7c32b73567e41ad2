package recording

import (
	"encoding/json"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// version is the version of the format. It changes when an older reader would misunderstand what is written.
const version = 1

// line is one line of a recording. One of its fields is set.
type line struct {
	Recording  *header   `json:"recording,omitempty"`
	Controller *enrolled `json:"controller,omitempty"`
	Resource   *numbered `json:"resource,omitempty"`
	Begin      *begin    `json:"begin,omitempty"`
	Call       *call     `json:"call,omitempty"`
	Event      *event    `json:"event,omitempty"`
	Change     *change   `json:"change,omitempty"`
	Finish     *finish   `json:"finish,omitempty"`
	End        *end      `json:"end,omitempty"`
}

type header struct {
	Version int `json:"version"`
}

// form is which of the contract's two forms a controller has.
type form string

const (
	classicForm form = "classic"
	queueForm   form = "queue"
)

type enrolled struct {
	Name string `json:"name"`
	Form form   `json:"form"`
}

// name names a resource, or with an empty id a kind.
type name struct {
	Namespace resource.Namespace `json:"namespace,omitempty"`
	Type      resource.Type      `json:"type,omitempty"`
	ID        resource.ID        `json:"id,omitempty"`
}

func nameOf(ptr resource.Pointer) name {
	return name{Namespace: ptr.Namespace(), Type: ptr.Type(), ID: ptr.ID()}
}

func nameOfKind(kind resource.Kind) name {
	return name{Namespace: kind.Namespace(), Type: kind.Type()}
}

func (n name) pointer() resource.Pointer {
	return reduced.Key{Kind: reduced.Kind{Namespace: n.Namespace, Type: n.Type}, ID: n.ID}.Pointer()
}

func (n name) String() string {
	switch {
	case n == name{}:
		return ""
	case n.ID == "":
		return n.Namespace + "/" + n.Type
	default:
		return n.Namespace + "/" + n.Type + "/" + n.ID
	}
}

// Reason is why a pass began.
type Reason string

const (
	// Started is the part of a classic controller's Run before its first wakeup.
	Started Reason = "started"
	// Woken is a wakeup of a classic controller.
	Woken Reason = "woken"
	// Reconciled is an item of a queue controller.
	Reconciled Reason = "reconcile"
	// Mapped is a mapped input of a queue controller.
	Mapped Reason = "map"
)

type begin struct {
	Pass       int    `json:"pass"`
	Controller string `json:"controller"`
	By         Reason `json:"by"`
	// Of is the item, or the mapped resource.
	Of *name `json:"of,omitempty"`
	// Facts are what is known of a mapped resource.
	Facts *facts `json:"facts,omitempty"`
}

// facts are what MapInput is told of a resource beside its name.
type facts struct {
	Phase           string            `json:"phase"`
	Labels          map[string]string `json:"labels,omitempty"`
	FinalizersEmpty bool              `json:"finalizersEmpty,omitempty"`
}

func factsOf(md controller.ReducedResourceMetadata) *facts {
	return &facts{Phase: md.Phase().String(), Labels: md.Labels().Raw(), FinalizersEmpty: md.FinalizersEmpty()}
}

// call is an answered request. Its number is unique in the recording.
type call struct {
	Pass    int     `json:"pass"`
	Number  int     `json:"number"`
	Request request `json:"request"`
	// Attempts are the calls of the function that was handed to Modify.
	Attempts []attempt `json:"attempts,omitempty"`
	Answer   answer    `json:"answer,omitzero"`
}

// request is what a pass asks for. Requests are the same if they are equal.
type request struct {
	Verb string `json:"verb"`
	Of   name   `json:"of,omitzero"`
	// With are options, or what else belongs to the request.
	With string `json:"with,omitempty"`
	// Content is the number of what is to be written.
	Content int `json:"content,omitempty"`
}

// attempt is one call of the function that was handed to Modify.
type attempt struct {
	// Base is what the function was called with. New tells that it is the resource that was handed to Modify.
	Base int  `json:"base"`
	New  bool `json:"new,omitempty"`
	// Made is what the function made of it; 0 if it failed.
	Made  int      `json:"made,omitempty"`
	Error *failure `json:"error,omitempty"`
}

// answer is what a request was answered. Which fields are set depends on the request.
type answer struct {
	Resources []int `json:"resources,omitempty"`
	// Own tells that the resource is the one that was handed to Modify: it was created.
	Own   bool            `json:"own,omitempty"`
	OK    bool            `json:"ok,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
	Error *failure        `json:"error,omitempty"`
}

// happening is what a pass notices without asking.
type happening string

const (
	// canceled is the end of the context of the pass or Run.
	canceled happening = "canceled"
	// toreDown is the end of a context with teardown.
	toreDown happening = "torn down"
	// fired is a timer that the pass has taken the time from.
	fired happening = "fired"
)

type event struct {
	Pass int `json:"pass"`
	// Begun is how many requests the pass had made before.
	Begun int       `json:"begun,omitempty"`
	What  happening `json:"what"`
	// Of is the number of the call that made the timer or the context.
	Of int `json:"of,omitempty"`
	// Cause is why the context has ended.
	Cause *failure `json:"cause,omitempty"`
	// Time is what the timer said.
	Time time.Time `json:"time,omitzero"`
}

// change is a change of the state.
type change struct {
	// Call is the number of the call that made it; 0 for one from outside.
	Call int  `json:"call,omitempty"`
	Of   name `json:"of"`
	// Content is what the resource is now; 0 when it was destroyed.
	Content int `json:"content,omitempty"`
}

// finish is how a pass of a queue controller, or a Run with its last pass, has ended.
type finish struct {
	Pass    int     `json:"pass"`
	Outcome outcome `json:"outcome,omitzero"`
}

type outcome struct {
	// Broken tells that it did not return: it panicked, or ended its goroutine.
	Broken bool     `json:"broken,omitempty"`
	Error  *failure `json:"error,omitempty"`
	// Requeue is the interval of a [controller.RequeueError].
	Requeue *time.Duration `json:"requeue,omitempty"`
	// Skipped tells that the error asks for the item to be left alone until the next change.
	Skipped bool `json:"skipped,omitempty"`
	// Items are what MapInput returned.
	Items []name `json:"items,omitempty"`
}

// end is how a recording that was closed ends.
type end struct {
	// Lines is how many lines came before.
	Lines int `json:"lines"`

	Summary
}

// Summary tells of a recording as a whole. It is the same for a replay.
type Summary struct {
	// Passes is how many there were.
	Passes int `json:"passes"`
	// Sequence is a hash of which passes there were, in order.
	Sequence string `json:"sequence"`
	// State is a hash of the final state, as far as it was written while recording.
	State string `json:"state"`
}

// mapped is what MapInput is told of a resource.
type mapped struct {
	resource.Pointer

	phase           resource.Phase
	labels          resource.Labels
	finalizersEmpty bool
}

var _ controller.ReducedResourceMetadata = (*mapped)(nil)

// Phase implements [controller.ReducedResourceMetadata].
func (m *mapped) Phase() resource.Phase { return m.phase }

// Labels implements [controller.ReducedResourceMetadata].
func (m *mapped) Labels() *resource.Labels { return &m.labels }

// FinalizersEmpty implements [controller.ReducedResourceMetadata].
func (m *mapped) FinalizersEmpty() bool { return m.finalizersEmpty }

// of makes of the facts what MapInput is told of a resource.
func (f *facts) of(n name) *mapped {
	m := &mapped{Pointer: n.pointer(), finalizersEmpty: f.FinalizersEmpty}

	if f.Phase == resource.PhaseTearingDown.String() {
		m.phase = resource.PhaseTearingDown
	}

	for key, value := range f.Labels {
		m.labels.Set(key, value)
	}

	return m
}
