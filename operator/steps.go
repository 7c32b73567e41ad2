package operator

import (
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller/generic"
)

// step is a stage, a scope, or all of a pass that has neither.
type step struct {
	def *definition
	// condition is what the step reports, and empty where only Ready is.
	condition string
	// action names it in events.
	action string
	after  []*step

	// A step has either a handler or cases.
	run       handler
	isScope   bool
	scopeName string
	cases     []*Case
	otherwise []handler
}

// title names the step for people.
func (s *step) title() string {
	if s.condition != "" {
		return s.condition
	}

	return s.action
}

// place says of what the cases of the step are, to somebody who reads of a definition.
func (s *step) place(reader *definition) string {
	place := "the controller"
	if s.isScope {
		place = fmt.Sprintf("scope %q", s.scopeName)
	}

	if s.def != reader {
		place += fmt.Sprintf(" in controller %q", s.def.name)
	}

	return place
}

// Step is what a stage can come after: a [Stage] or a [Scope].
type Step interface{ self() *step }

// Stage is one part of a pass that has several.
type Stage struct{ step *step }

func (s *Stage) self() *step {
	if s == nil {
		return nil
	}

	return s.step
}

// Stage adds a part to the pass, which is reported as a condition. Stages run one after the other, each after those that it
// is said to come after; together that has to make one order and no other. One that waits or fails ends the pass. Each pass
// begins with the first stage, whatever the last one came to: conditions are what was seen, and not what has been done.
func (c *Controller[P]) Stage(condition string, handle StageHandler[P], after ...Step) *Stage {
	def := c.define()
	if handle == nil {
		def.problem("the handler of stage %q is nil: give it a function", condition)
	}

	s := &step{def: def, condition: condition, action: condition, run: c.partial(handle)}
	def.addStage(s, after)

	return &Stage{s}
}

func (d *definition) addStage(s *step, after []Step) {
	for i, other := range after {
		if other == nil || other.self() == nil {
			d.problem("number %d of what stage %q comes after is nil: make the other stage first", i+1, s.condition)

			continue
		}

		s.after = append(s.after, other.self())
	}

	d.stages = append(d.stages, s)
}

// Scope is a part of a pass that does one of several things.
type Scope[P generic.ResourceWithRD] struct {
	controller *Controller[P]
	step       *step
}

func (s *Scope[P]) self() *step {
	if s == nil {
		return nil
	}

	return s.step
}

// Scope adds a part to the pass of which one case runs. It has a name, reports one condition whatever the case, and its place is
// that of a [Controller.Stage].
func (c *Controller[P]) Scope(name, condition string, after ...Step) *Scope[P] {
	s := &step{def: c.define(), condition: condition, action: condition, isScope: true, scopeName: name}
	s.def.addStage(s, after)

	return &Scope[P]{c, s}
}

// Case is one of several things that a scope, or a whole pass, may do.
type Case struct {
	step  *step
	name  string
	after []*Case
	when  func(run *pass) (bool, error)
	run   handler
}

// Case adds a case to the scope: if the primary is like this, and like none that comes before, that is done. It is asked after
// those that it is said to come after; together that has to make one order and no other. The question has no side effects and is
// quick. The name is the reason of the condition once the case has gone well.
func (s *Scope[P]) Case(name string, when func(P) bool, handle StageHandler[P], after ...*Case) *Case {
	s.controller.define()

	return addCase(s.step, name, when, handle == nil, s.controller.partial(handle), after)
}

// Otherwise is what the scope does for a primary that is like none of its cases. A scope has exactly one.
func (s *Scope[P]) Otherwise(handle StageHandler[P]) {
	s.controller.define()
	s.step.addOtherwise(handle == nil, s.controller.partial(handle))
}

// Case adds a case to a pass that does one of several things, without stages. See [Scope.Case].
func (c *Controller[P]) Case(name string, when func(P) bool, handle Handler[P], after ...*Case) *Case {
	return addCase(c.define().cases(), name, when, handle == nil, c.full(handle), after)
}

// Otherwise is what is done for a primary that is like none of the cases. A controller with cases has exactly one.
func (c *Controller[P]) Otherwise(handle Handler[P]) *Controller[P] {
	c.define().cases().addOtherwise(handle == nil, c.full(handle))

	return c
}

// cases returns the step of cases that are the whole pass.
func (d *definition) cases() *step {
	if d.root == nil {
		d.root = &step{def: d, action: "Reconcile"}
	}

	return d.root
}

func addCase[P generic.ResourceWithRD](s *step, name string, when func(P) bool, none bool, run handler, after []*Case) *Case {
	switch {
	case when == nil:
		s.def.problem("case %q has no question: say when it is the case", name)
	case none:
		s.def.problem("the handler of case %q is nil: give it a function", name)
	}

	added := &Case{step: s, name: name, run: run}
	added.when = func(run *pass) (bool, error) {
		primary, err := own[P](run)
		if err != nil {
			return false, err
		}

		return when(primary), nil
	}

	for i, other := range after {
		switch {
		case other == nil:
			s.def.problem("number %d of what case %q comes after is nil: make the other case first", i+1, name)
		case other.step != s:
			s.def.problem("case %q comes after %q, which is a case of %s: name one that stands beside it", name, other.name, other.step.place(s.def))
		default:
			added.after = append(added.after, other)
		}
	}

	s.cases = append(s.cases, added)

	return added
}

func (s *step) addOtherwise(none bool, run handler) {
	if none {
		s.def.problem("the handler of Otherwise is nil: give it a function")
	}

	s.otherwise = append(s.otherwise, run)
}

// ordered sorts the cases into the order in which they are asked.
func (s *step) ordered() ([]*Case, error) {
	return uniqueOrder(slices.Clone(s.cases), func(c *Case) []*Case { return c.after }, func(c *Case) string { return c.name })
}
