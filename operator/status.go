package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/reduced"
)

// StatusSpec is what a controller says about one primary. It is the spec of a resource of its own, with the id of the
// primary: the primary belongs to who asks, and its status to who answers.
type StatusSpec[S typed.DeepCopyable[S]] struct {
	// SubjectUID is the life of the primary that was looked at: see [Incarnation]. What is said of another life is not said of
	// this one.
	SubjectUID string `yaml:"subjectUID" protobuf:"1"`
	// ObservedGeneration is the generation of the primary that was looked at, whatever came of it. It is 0 where the primary
	// has none.
	ObservedGeneration int64 `yaml:"observedGeneration" protobuf:"2"`
	// Conditions are what was found.
	Conditions Conditions `yaml:"conditions,omitempty" protobuf:"3"`
	// Data is what else there is to say.
	Data S `yaml:"data,omitempty" protobuf:"4"`
}

// DeepCopy implements the contract of typed resources.
func (s StatusSpec[S]) DeepCopy() StatusSpec[S] {
	s.Conditions = slices.Clone(s.Conditions)
	s.Data = s.Data.DeepCopy()

	return s
}

// String sums the status up in one line, for people: whether the primary is ready, if not why, and what the data says, if it
// has a String of its own.
func (s StatusSpec[S]) String() string {
	var parts []string

	if ready, known := s.Conditions.Get(Ready); known {
		parts = append(parts, ready.summary())
	}

	if data, ok := any(s.Data).(fmt.Stringer); ok && data.String() != "" {
		parts = append(parts, data.String())
	}

	return strings.Join(parts, ", ")
}

// summary is the condition Ready in one line.
func (c Condition) summary() string {
	switch why := c.Reason + suffix(c.Message); c.Status {
	case True:
		return "ready"
	case False:
		return "not ready, " + why
	default:
		return "unknown, " + why
	}
}

// observation is a StatusSpec of whatever data.
type observation struct {
	uid        *string
	generation *int64
	conditions *Conditions
}

func (s *StatusSpec[S]) observation() observation {
	return observation{&s.SubjectUID, &s.ObservedGeneration, &s.Conditions}
}

func (s *StatusSpec[S]) reset() { *s = StatusSpec[S]{} }

// StatusResource is the resource that holds a status. Its id is that of the primary.
type StatusResource[S typed.DeepCopyable[S], E typed.Extension] = typed.Resource[StatusSpec[S], E]

// NoData is for a status that has conditions and nothing else.
type NoData struct{}

// DeepCopy implements the contract of typed resources.
func (NoData) DeepCopy() NoData { return NoData{} }

// StatusOf is the status of the primaries of a controller. Handlers set it, each for the primary of its own pass.
type StatusOf[S typed.DeepCopyable[S]] struct{ def *definition }

// statusKind is the kind of a status, whatever is in it.
type statusKind struct {
	kind  reduced.Kind
	empty func(md resource.Metadata) resource.Resource
}

// Status declares that the controller has a status for each primary, a [StatusResource] of S and E. It reports the conditions
// of the stages in it, and [Ready]; the handle sets the rest. It is written once in a pass, after the handlers, whether they
// have failed or not, and only if it is another than before. It is gone before its primary is.
//
// A status that is written does not wake its own controller; see [Controller.StatusUpdates]. Other controllers may watch it
// like everything else.
func Status[S typed.DeepCopyable[S], E typed.Extension](c Definition, opts ...KindOption) *StatusOf[S] {
	def := c.define()

	rd := declare[*StatusResource[S, E]](def, "the status")

	o := def.options("the status "+rd.Type, opts)
	if o.shared {
		def.problem("the status %s is said to be Shared, which is for what is owned: leave it out", rd.Type)
	}

	if def.status != nil {
		def.problem("it has two statuses, %s and %s: leave one", def.status.kind.Type, rd.Type)
	}

	def.status = &statusKind{
		kind: reduced.Kind{Namespace: rd.DefaultNamespace, Type: rd.Type},
		empty: func(md resource.Metadata) resource.Resource {
			return typed.NewResource[StatusSpec[S], E](md, StatusSpec[S]{})
		},
	}

	if o.hasNamespace {
		def.status.kind.Namespace = o.namespace
	}

	if def.status.kind.Namespace == "" && rd.Type != "" {
		def.problem("the status %s has no namespace: give its ResourceDefinition a DefaultNamespace, or say InNamespace", rd.Type)
	}

	return &StatusOf[S]{def}
}

// Set changes what the status says, apart from the conditions. It is saved with the rest of the status at the end of the
// pass, also if the pass fails.
func (s *StatusOf[S]) Set(c Pass, change func(*S)) {
	if spec := s.spec(c); spec != nil {
		change(&spec.Data)
	}
}

// Get returns what the status says, with what this pass has set.
func (s *StatusOf[S]) Get(c Pass) (data S) {
	if spec := s.spec(c); spec != nil {
		data = spec.Data.DeepCopy()
	}

	return data
}

// spec returns the status of the pass. A pass of another controller has none: that is a mistake which fails it.
func (s *StatusOf[S]) spec(c Pass) *StatusSpec[S] {
	run := c.running()
	if run.def != s.def {
		run.mistake("the status is that of controller %q: keep the handle of %q beside its handlers", s.def.name, run.def.name)

		return nil
	}

	return run.status.desired.Spec().(*StatusSpec[S])
}

// reporting is what becomes of the status by itself.
type reporting struct {
	off     bool // no conditions
	updates bool // own status writes wake
}

// WithoutConditions keeps conditions out of the status, so that it says only what handlers set.
func (c *Controller[P]) WithoutConditions() *Controller[P] {
	c.define().reports.off = true

	return c
}

// StatusUpdates has a primary worked on when its status has changed, whoever wrote it. The default is that a status wakes
// others only, so that what a controller reports does not make it run again.
func (c *Controller[P]) StatusUpdates() *Controller[P] {
	def := c.define()
	if def.status == nil {
		def.problem("StatusUpdates is of no use without a status: declare it with Status before, or leave this out")
	}

	def.reports.updates = true

	return c
}

// Incarnation tells the lives of one id apart: it is the uid of the resource, or where it has none, when it was created. Wrap the
// state with the package generation for a uid.
func Incarnation(res resource.Resource) string {
	if uid := generation.UID(res); uid != "" {
		return uid
	}

	return res.Metadata().Created().UTC().Format("2006-01-02T15:04:05.999999999Z")
}

// View is a primary and what was said about it last.
type View[P generic.ResourceWithRD, S typed.DeepCopyable[S]] struct {
	// Primary is the primary.
	Primary P
	// Status is what was said of it. It is empty where there is nothing about the present life of the primary.
	Status StatusSpec[S]
	// Stale says that what is asked for has changed since, or that nothing was said of it yet. The begin of a teardown is no such
	// change.
	Stale bool
}

// Joined puts a primary and its status together; the status may be nil. Both are from reads of their own, so the status
// may be older, which Stale says, or newer than the primary.
func Joined[P generic.ResourceWithRD, S typed.DeepCopyable[S], E typed.Extension](primary P, status *StatusResource[S, E]) View[P, S] {
	view := View[P, S]{Primary: primary, Stale: true}

	if status == nil || status.TypedSpec().SubjectUID != Incarnation(primary) {
		return view
	}

	view.Status = status.TypedSpec().DeepCopy()
	view.Stale = view.Status.ObservedGeneration < generation.Of(primary)

	return view
}
