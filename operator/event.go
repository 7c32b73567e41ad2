package operator

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/siderolabs/gen/ensure"
)

// Severity says what an event is for.
type Severity string

// Severities of events.
const (
	// Normal is for what went as it should.
	Normal Severity = "Normal"
	// Warning is for what somebody should look at.
	Warning Severity = "Warning"
)

// Event is a note about a primary.
type Event struct {
	// Severity says what it is for.
	Severity Severity
	// Subject is the primary.
	Subject resource.Reference
	// SubjectUID is the life of the primary: see [Incarnation].
	SubjectUID string
	// Controller is who says it.
	Controller string
	// Action is what the controller was at: a stage, Reconcile or Finalize.
	Action string
	// Reason is what has happened, as one word for machines.
	Reason string
	// Message is the same for people.
	Message string
	// Time is when.
	Time time.Time
}

// Recorder takes events. It is called with few of them: what is repeated, or too much, was left out before. The
// context bounds all events of a pass together, and an error is logged and has no other consequence. It is called by several
// goroutines at once.
type Recorder interface {
	Record(ctx context.Context, event Event) error
}

// EventType is the type of [EventResource].
const EventType resource.Type = "Events.switchyard.run"

// EventResource is an event in the state, in the namespace of what it is about. Equal events of an hour are one, counted.
//
// Events are notes for people. They may be lost, and written twice; no controller of this package may have them as an
// input.
type EventResource = typed.Resource[EventSpec, EventExtension]

// EventSpec is the spec of an [EventResource].
type EventSpec struct {
	// Severity says what it is for.
	Severity Severity `yaml:"severity" protobuf:"1"`
	// SubjectNamespace, SubjectType and SubjectID are what the event is about.
	SubjectNamespace string `yaml:"subjectNamespace" protobuf:"2"`
	SubjectType      string `yaml:"subjectType" protobuf:"3"`
	SubjectID        string `yaml:"subjectID" protobuf:"4"`
	// SubjectUID is its life.
	SubjectUID string `yaml:"subjectUID" protobuf:"5"`
	// Controller is who says it, and Action what it was at.
	Controller string `yaml:"controller" protobuf:"6"`
	Action     string `yaml:"action" protobuf:"7"`
	// Reason and Message say what has happened.
	Reason  string `yaml:"reason" protobuf:"8"`
	Message string `yaml:"message,omitempty" protobuf:"9"`
	// Count is how often it was recorded, and First and Last when.
	Count int64     `yaml:"count" protobuf:"10"`
	First time.Time `yaml:"first" protobuf:"11"`
	Last  time.Time `yaml:"last" protobuf:"12"`
}

// DeepCopy implements the contract of typed resources.
func (s EventSpec) DeepCopy() EventSpec { return s }

// EventExtension describes [EventResource] to clients.
type EventExtension struct{}

// ResourceDefinition implements the contract's meta.ResourceDefinitionProvider.
func (EventExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type:             EventType,
		DefaultNamespace: "default",
		PrintColumns: []meta.PrintColumn{
			{Name: "Severity", JSONPath: "{.severity}"},
			{Name: "Subject", JSONPath: "{.subjectID}"},
			{Name: "Reason", JSONPath: "{.reason}"},
			{Name: "Count", JSONPath: "{.count}"},
			{Name: "Message", JSONPath: "{.message}"},
		},
	}
}

// Linking the package makes the contract's wire format know the type.
func init() { ensure.NoError(protobuf.RegisterDynamic[EventSpec](EventType, &EventResource{})) }

// eventing is what a controller does with events.
type eventing struct {
	off      bool
	recorder Recorder
	flush    time.Duration // 0 is DefaultEventFlush
}

// DefaultEventFlush bounds what recording the events of one pass may take.
const DefaultEventFlush = 2 * time.Second

// WithoutEvents keeps the controller from recording events.
func (c *Controller[P]) WithoutEvents() *Controller[P] {
	c.define().events.off = true

	return c
}

// RecordEvents has events taken by a recorder of the host. The default is to write each as an [EventResource].
func (c *Controller[P]) RecordEvents(to Recorder) *Controller[P] {
	def := c.define()
	if to == nil {
		def.problem("RecordEvents(nil): give it a recorder, or say WithoutEvents")
	}

	def.events.recorder = to

	return c
}

// EventFlush bounds what recording all events of one pass may take; the default is [DefaultEventFlush]. It is not part of
// [Controller.Timeout].
func (c *Controller[P]) EventFlush(d time.Duration) *Controller[P] {
	def := c.define()
	if d <= 0 {
		def.problem("EventFlush(%s): give it more than 0, or say WithoutEvents", d)
	}

	def.events.flush = d

	return c
}
