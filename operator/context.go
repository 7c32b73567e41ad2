package operator

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"go.uber.org/zap"
)

// Pass is what a handler is called in: a [Context] or a [StageContext]. It is of one call, and of the goroutine that is in it: a
// handler does not keep it, and if it starts goroutines, it alone uses it.
type Pass interface{ running() *pass }

// StageContext is the pass that a handler is called in.
type StageContext struct{ pass *pass }

func (c *StageContext) running() *pass { return c.pass }

// Logger names the controller and the primary.
func (c *StageContext) Logger() *zap.Logger { return c.pass.logger }

// Runtime is the whole access of the controller: what it has declared as its inputs and outputs. Its reads are from the cache
// where the kind is cached. What is missing there may only be out of sight: nothing is to be destroyed because of it. What is
// written through it is none of the layer's: children are made with [Ensure], which gives them their parent.
func (c *StageContext) Runtime() controller.QRuntime { return c.pass.runtime }

// Generation is that of the primary that the pass looks at; 0 if it has none.
func (c *StageContext) Generation() int64 { return c.pass.generation }

// Condition adds an observation of the handler's own to the status. Ready and the conditions of stages are not for handlers:
// they sum up what handlers return, and to set one fails the pass. The same goes for a controller without a status. The
// message takes the verbs of fmt, and is not for secrets.
func (c *StageContext) Condition(name string, status ConditionStatus, reason, message string, args ...any) {
	run := c.pass

	switch {
	case run.def.status == nil:
		run.mistake("condition %q has no status to stand in: declare one with Status", name)
	case run.def.reserved(name):
		run.mistake("condition %q is reported by itself: return Wait or an error instead, or set one of another name", name)
	case !word.MatchString(name):
		run.mistake("condition %q is no word: begin with a letter, go on with letters, digits and '_', at most 128", name)
	case status != True && status != False && status != Unknown:
		run.mistake("condition %q is %q: say True, False or Unknown", name, status)
	default:
		run.condition(Condition{Type: name, Status: status, Reason: reason, Message: sprintf(message, args)})
	}
}

// GetCondition returns a condition of the primary, as it was when the pass began, or as the handler has set it.
func (c *StageContext) GetCondition(name string) (Condition, bool) {
	if c.pass.def.status == nil {
		return Condition{}, false
	}

	return c.pass.status.conditions().Get(name)
}

// Event notes something about the primary for people. It is written after the status; that a note is lost, dropped because
// there are many, or written twice, changes nothing else. The message takes the verbs of fmt, and is not for secrets.
func (c *StageContext) Event(reason, message string, args ...any) {
	c.pass.event(Normal, reason, sprintf(message, args))
}

// Warn is [StageContext.Event] for what somebody should look at.
func (c *StageContext) Warn(reason, message string, args ...any) {
	c.pass.event(Warning, reason, sprintf(message, args))
}

func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}

	return fmt.Sprintf(format, args...)
}

// reserved tells whether a condition is reported by the layer.
func (d *definition) reserved(condition string) bool {
	if condition == Ready {
		return true
	}

	for _, s := range d.order {
		if s.condition == condition {
			return true
		}
	}

	return false
}

// Context is the pass of a handler that does everything, and may change the primary.
type Context[P generic.ResourceWithRD] struct{ StageContext }

// Save has the primary written as it is given, once the handler has returned and if it has returned well: its spec, its
// labels and its annotations. It is a changed copy of what the handler was given. Nothing is written if it is the same as
// when the pass began; if it was changed meanwhile by somebody else, the pass runs again on what it is now. The controller
// has to say [Controller.Mutates].
//
// What the handler changes after Save is not written. The last of several calls counts.
func (c *Context[P]) Save(primary P) error {
	run := c.pass
	md, base := primary.Metadata(), run.primary.Metadata()

	switch {
	case !run.def.mutates:
		return refused("controller %q saves its primary and has not said so: call Mutates in its definition", run.def.name)
	case md.Type() != base.Type() || md.Namespace() != base.Namespace() || md.ID() != base.ID():
		return refused("Save is given %s in the pass of %s: save what the handler was given", md, base)
	case !md.Version().Equal(base.Version()) || Incarnation(primary) != run.incarnation:
		return refused(
			"Save is given version %s of %s and the pass began with version %s: change what the handler was given, and leave its version alone",
			md.Version(), base, base.Version())
	}

	run.saved = primary.DeepCopy()

	return nil
}
