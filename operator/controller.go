package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reconcile"
)

// Handler does the work of one pass over one primary. It gets a copy of it as it is now, which is the handler's own: what is
// done to it is seen by nobody, unless it is given to [Context.Save].
//
// What it returns is judged by [reconcile.Classify]. It is called again and again, also for a primary that it has worked on
// before, and after a pass that has ended half-way, so it brings about what shall be and does not continue what was.
type Handler[P generic.ResourceWithRD] func(ctx context.Context, primary P, c *Context[P]) error

// StageHandler is a [Handler] that is one of several in a pass, and can not save the primary.
type StageHandler[P generic.ResourceWithRD] func(ctx context.Context, primary P, c *StageContext) error

// Definition is a [Controller] of whatever primaries.
type Definition interface {
	// Name is the name of the controller.
	Name() string

	// define returns the definition to somebody who changes it, and defined to somebody who does not.
	define() *definition
	defined() *definition
}

// Controller is the definition of a controller of primaries of one kind. Its methods, and the functions that take it, say what is
// special about the controller; nothing is checked before [Controller.Build], which tells all mistakes at once, and nothing runs
// before what it returns is registered.
//
// A definition is made by one goroutine. Once it is built it is not changed any more: what tries panics.
type Controller[P generic.ResourceWithRD] struct{ def *definition }

// For begins the definition of a controller of P. The name is that of the controller: the owner of what it writes, and, unless
// [Controller.Finalize] says otherwise, its finalizer.
func For[P generic.ResourceWithRD](name string) *Controller[P] {
	def := &definition{name: name}

	rd := declare[P](def, "the primary")

	def.primary.Type, def.primary.Namespace, def.home = rd.Type, rd.DefaultNamespace, rd.DefaultNamespace

	return &Controller[P]{def}
}

// Name is the name of the controller.
func (c *Controller[P]) Name() string { return c.def.name }

func (c *Controller[P]) define() *definition {
	if c.def.built {
		panic(fmt.Sprintf("operator: controller %q has been built: say everything about it before", c.def.name))
	}

	return c.def
}

func (c *Controller[P]) defined() *definition { return c.def }

// Namespace sets where the primaries are. The default is what the definition of their type says.
func (c *Controller[P]) Namespace(ns resource.Namespace) *Controller[P] {
	c.define().primary.Namespace = ns

	return c
}

// Select narrows the primaries to those whose labels match all that is said here, in one call or several. One that stops to
// match has one more pass, in which its status says so; what it has stays, and is cleaned up when it is torn down.
func (c *Controller[P]) Select(terms ...resource.LabelQueryOption) *Controller[P] {
	def := c.define()
	if len(terms) == 0 {
		def.problem("Select has no terms: say which labels primaries have, or leave it out")
	}

	for i, term := range terms {
		if term == nil {
			def.problem("term %d of Select is nil: leave it out", i+1)

			continue
		}

		term(&def.selector)
	}

	return c
}

// Workers sets how many primaries are worked on at once; the default is 1. One primary is never worked on twice at once.
func (c *Controller[P]) Workers(n int) *Controller[P] {
	def := c.define()
	if n < 1 {
		def.problem("Workers(%d): give it at least 1", n)
	}

	def.workers = n

	return c
}

// Every has a primary worked on again that long after a pass that went well, though nothing has changed. The default is
// never. What [RequeueAfter], [Wait] and failures say comes first.
func (c *Controller[P]) Every(d time.Duration) *Controller[P] {
	def := c.define()
	if d <= 0 {
		def.problem("Every(%s): give it more than 0, or leave it out", d)
	}

	def.every = d

	return c
}

// Resync has a primary looked at again that long after a pass that has come to an end of any kind, as if it had changed: one
// that went well, and one that has failed for good, which [Controller.Every] leaves alone. It is the net below everything
// that tells of changes. The default is never: the engine misses none of what is in the state.
func (c *Controller[P]) Resync(d time.Duration) *Controller[P] {
	def := c.define()
	if d <= 0 {
		def.problem("Resync(%s): give it more than 0, or leave it out", d)
	}

	def.resync = d

	return c
}

// Timeout bounds a pass: its handlers, and writing what they have said. A pass that takes longer has failed and is tried
// again, whatever it has done; if a handler returns an error of its own by then, or waits, that is what it has come to. The
// default is no bound. A handler that does not look at its context is waited for all the same.
func (c *Controller[P]) Timeout(d time.Duration) *Controller[P] {
	def := c.define()
	if d <= 0 {
		def.problem("Timeout(%s): give it more than 0, or leave it out", d)
	}

	def.timeout = d

	return c
}

// Mutates lets handlers change the primary through [Context.Save]. It declares the primary's kind as a shared output, and
// so is refused at registration where another controller says that it is the only one to write it.
func (c *Controller[P]) Mutates() *Controller[P] {
	c.define().mutates = true

	return c
}

// Reconcile sets the one handler that does everything. A controller has either this, or stages and scopes, or cases.
func (c *Controller[P]) Reconcile(handle Handler[P]) *Controller[P] {
	def := c.define()
	if handle == nil {
		def.problem("the handler of Reconcile is nil: give it a function")
	}

	def.reconcilers++
	def.reconcile = &step{def: def, action: "Reconcile", run: c.full(handle)}

	return c
}

// Finalize sets what has to be done before a primary is gone, and the finalizer that keeps it until then. The finalizer is
// put on a primary before anything else is done for it, and taken off last: when the handler has returned nil and all
// children of the primary are gone. A handler that fails, or waits, is called again, so it has to bear being called more than
// once.
//
// Controllers that own children or have a status have a finalizer without this, of the name of the controller. A key with a
// domain, such as "example.com/external-record", tells whose it is.
func (c *Controller[P]) Finalize(key resource.Finalizer, handle StageHandler[P]) *Controller[P] {
	def := c.define()

	switch {
	case key == "":
		def.problem("the finalizer has no name: give Finalize one, as in %q", "example.com/"+def.name)
	case handle == nil:
		def.problem("the handler of Finalize(%q) is nil: give it a function", key)
	}

	def.finalizers = append(def.finalizers, key)
	def.finalizer = key
	def.finalize = &step{def: def, action: "Finalize", run: c.partial(handle)}

	return c
}

// full makes one kind of handlers out of two: this is the one that may save.
func (c *Controller[P]) full(handle Handler[P]) handler {
	return func(ctx context.Context, run *pass) error {
		primary, err := own[P](run)
		if err != nil {
			return err
		}

		return handle(ctx, primary, &Context[P]{StageContext{run}})
	}
}

func (c *Controller[P]) partial(handle StageHandler[P]) handler {
	return func(ctx context.Context, run *pass) error {
		primary, err := own[P](run)
		if err != nil {
			return err
		}

		return handle(ctx, primary, &StageContext{run})
	}
}

// own returns a copy of the primary that belongs to a handler.
func own[P generic.ResourceWithRD](run *pass) (P, error) {
	primary, ok := run.primary.DeepCopy().(P)
	if !ok {
		return primary, reconcile.Terminal(fmt.Errorf(
			"the state holds a %T where the controller wants a %T: register the type where the state is made", run.primary, primary))
	}

	return primary, nil
}

// selects tells whether primaries with these labels are the controller's.
func (d *definition) selects(labels *resource.Labels) bool {
	return len(d.selector.Terms) == 0 || d.selector.Matches(*labels)
}

// needsFinalizer tells whether anything has to be done before a primary may go.
func (d *definition) needsFinalizer() bool {
	return d.finalize != nil || len(d.owned) > 0 || d.status != nil
}
