package operator

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Ready is the condition that sums up all others. It is reported by the layer alone.
const Ready = "Ready"

// DefinitionError tells all that is wrong with a definition.
type DefinitionError struct {
	// Controller is the name of the controller.
	Controller string
	// Problems are the mistakes, each with what to do about it.
	Problems []string
}

// Error tells all mistakes, each on a line of its own where there are several.
func (e *DefinitionError) Error() string {
	begin := fmt.Sprintf("operator: controller %q: ", e.Controller)

	if len(e.Problems) == 1 {
		return begin + e.Problems[0]
	}

	return fmt.Sprintf("%s%d mistakes:\n\t%s", begin, len(e.Problems), strings.Join(e.Problems, "\n\t"))
}

// word is what conditions and cases may be called.
var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,127}$`)

// controllerName is what controllers may be called: names stand in finalizers, labels of metrics and logs.
var controllerName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,126}[A-Za-z0-9])?$`)

// check returns everything that is wrong with the definition, or nil.
func (d *definition) check() error {
	if d.built {
		return &DefinitionError{d.name, []string{"it has been built already, by Build or Register: begin another one with For"}}
	}

	before := len(d.problems)

	d.checkName()
	d.checkKinds()
	d.checkStructure()
	d.checkFinalizer()

	if d.reports.off && d.status == nil {
		d.problem("WithoutConditions is of no use without a status: leave it out, or declare one with Status")
	}

	problems := d.problems
	d.problems = d.problems[:before] // a second check tells the same

	if len(problems) == 0 {
		return nil
	}

	return &DefinitionError{Controller: d.name, Problems: problems}
}

func (d *definition) checkName() {
	switch {
	case d.name == "":
		d.problem("it has no name: give For one")
	case !controllerName.MatchString(d.name):
		d.problem("its name has other characters than letters, digits, '.', '_', '/' and '-', or is longer than 128: give For another one")
	}
}

// checkKinds sees that each kind has one part in the controller.
func (d *definition) checkKinds() {
	if d.primary.Namespace == "" && d.primary.Type != "" {
		d.problem("the primary %s has no namespace: give its ResourceDefinition a DefaultNamespace, or call Namespace", d.primary.Type)
	}

	parts := map[reduced.Kind]string{d.primary: "the primary"}

	take := func(kind reduced.Kind, part string) {
		switch before, taken := parts[kind]; {
		case kind.Type == "":
		case kind.Type == EventType:
			d.problem("%s is %s: events are notes for people and wake nobody; watch what they are about", part, kind.Type)
		case taken && before == part:
			d.problem("%s is declared twice as %s: leave one out", kind.Type, part)
		case taken:
			d.problem("%s is %s and can not be %s as well: leave one out", kind.Type, before, part)
		default:
			parts[kind] = part
		}
	}

	if d.primary.Type == EventType {
		d.problem("the primary is %s: events are notes for people and wake nobody; work on what they are about", EventType)
	}

	if d.status != nil {
		take(d.status.kind, "the status")
	}

	shared := map[resource.Type]bool{}

	for _, owned := range d.owned {
		if before, known := shared[owned.kind.Type]; known && before != owned.shared {
			d.problem("the owned kind %s is Shared in one namespace and not in another: an output is a type, whatever the namespace; say the same of both", owned.kind.Type)
		}

		shared[owned.kind.Type] = owned.shared

		if owned.homeless {
			owned.kind.Namespace = d.primary.Namespace
		}

		take(owned.kind, "an owned kind")

		if owned.kind.Type == "" || owned.kind.Type == EventType {
			continue // said already
		}

		if owned.kind.Type == d.primary.Type && owned.kind != d.primary && !owned.shared {
			d.problem("the owned kind %s is of the type of the primary, which others write: say Owns with Shared", owned.kind.Type)
		}

		if owned.kind.Namespace != d.primary.Namespace && !owned.declared {
			d.problem("the owned kind %s is in namespace %q by its definition and the primary in %q: say Owns with InNamespace(%q) if that is meant",
				owned.kind.Type, owned.kind.Namespace, d.primary.Namespace, owned.kind.Namespace)
		}
	}

	for _, watched := range d.watched {
		if part := parts[watched.kind]; part == "an owned kind" || part == "the status" {
			parts[watched.kind] = "a watched kind" // what belongs to one primary may be of interest to others
		} else {
			take(watched.kind, "a watched kind")
		}

		if watched.kind.Namespace == "" && watched.kind.Type != "" {
			d.problem("the watched kind %s has no namespace: give its ResourceDefinition a DefaultNamespace, or Watch an InNamespace", watched.kind.Type)
		}
	}
}

// checkStructure sees that there is one structure, and brings its steps into order.
func (d *definition) checkStructure() {
	var kinds []string

	if d.reconcile != nil {
		kinds = append(kinds, "Reconcile")
	}

	if len(d.stages) > 0 {
		kinds = append(kinds, "stages")
	}

	if d.root != nil {
		kinds = append(kinds, "cases")
	}

	switch {
	case len(kinds) == 0:
		d.problem("nothing runs: call Reconcile, or add stages or cases")
	case len(kinds) > 1:
		d.problem("it has %s: choose one of them", strings.Join(kinds, " and "))
	case d.reconcilers > 1:
		d.problem("Reconcile is called %d times: a controller has one handler; make it stages if it does several things", d.reconcilers)
	case d.reconcile != nil:
		d.order = []*step{d.reconcile}
	case d.root != nil:
		d.order = []*step{d.root}
	}

	if d.mutates && len(d.stages) > 0 {
		d.problem("Mutates is of no use with stages, which can not save the primary: leave it out, or use Reconcile or cases")
	}

	if d.root != nil {
		d.checkCases(d.root)
	}

	d.checkStages()
}

func (d *definition) checkStages() {
	conditions := map[string]bool{}
	scopes := map[string]bool{}

	for _, s := range d.stages {
		d.checkWord("condition", s.condition)

		switch {
		case s.condition == Ready:
			d.problem("a stage reports %q, which sums up all stages: give it another name", Ready)
		case conditions[s.condition]:
			d.problem("two stages report %q: give each a condition of its own", s.condition)
		}

		conditions[s.condition] = true

		if s.isScope {
			d.checkWord("scope", s.scopeName)

			if scopes[s.scopeName] {
				d.problem("two scopes are called %q: give each a name of its own", s.scopeName)
			}

			scopes[s.scopeName] = true

			d.checkCases(s)
		}

		for _, other := range s.after {
			if other.def != d {
				d.problem("stage %q comes after %q of controller %q: name a stage of this controller", s.condition, other.condition, other.def.name)

				return
			}
		}
	}

	if len(d.stages) == 0 {
		return
	}

	order, err := uniqueOrder(d.stages, func(s *step) []*step { return s.after }, (*step).title)
	if err != nil {
		d.problem("its stages have no order: %v", err)
	}

	if d.order == nil {
		d.order = order
	}
}

func (d *definition) checkCases(s *step) {
	where := s.place(d)

	if len(s.cases) == 0 {
		d.problem("%s has no cases: add one, or use a handler instead", where)
	}

	switch len(s.otherwise) {
	case 0:
		d.problem("%s has no Otherwise: say what is done when none of the cases is", where)
	case 1:
	default:
		d.problem("%s has Otherwise %d times: leave one", where, len(s.otherwise))
	}

	seen := map[string]bool{}

	for _, c := range s.cases {
		d.checkWord("case", c.name)

		switch {
		case c.name == otherwise || c.name == Ready:
			d.problem("a case of %s is called %q, which means something else: give it another name", where, c.name)
		case seen[c.name]:
			d.problem("%s has two cases called %q: give each a name of its own", where, c.name)
		}

		seen[c.name] = true
	}

	order, err := s.ordered()
	if err != nil {
		d.problem("the cases of %s have no order: %v", where, err)

		return
	}

	s.cases = order
}

func (d *definition) checkWord(what, name string) {
	if !word.MatchString(name) {
		d.problem("%s %q is no word: begin with a letter, go on with letters, digits and '_', at most 128", what, name)
	}
}

func (d *definition) checkFinalizer() {
	if len(d.finalizers) > 1 {
		d.problem("Finalize is called %d times (%s): a controller has one; call what belongs together from it",
			len(d.finalizers), strings.Join(d.finalizers, ", "))
	}

	d.finalizer = d.heldBy()
}

// heldBy is the finalizer of the controller.
func (d *definition) heldBy() resource.Finalizer {
	if d.finalizer == "" {
		return resource.Finalizer(d.name)
	}

	return d.finalizer
}

// holds tells whether a primary that is torn down waits for the controller. The name of the controller is what its finalizer was
// before it had a Finalize with another one, and is on primaries that are from then.
func (d *definition) holds(md *resource.Metadata) bool {
	return md.Finalizers().Has(d.finalizer) || md.Finalizers().Has(resource.Finalizer(d.name))
}
