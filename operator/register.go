package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/destroy"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/siderolabs/gen/optional"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// Register builds controllers and registers them with an engine, together with what they need: a controller that destroys
// primaries that are torn down and have no finalizer left, one for each kind, and one that sweeps old events, for each
// namespace. All mistakes in all definitions are told at once, and then nothing is registered.
//
// Operators of one engine share these: what another call has registered is not registered again. Engines that do not say
// dependency.ErrNameTaken, as the contract's own, refuse it; with them all operators are given to one call. If the engine refuses
// a controller, those before it in the call are unregistered again, where the engine can do that.
//
// What fails is tried again after the backoff of the engine: backoff.Authoring is meant for these controllers, and [App] has it.
//
// If primaries belong to a controller, which destroys them, say [Controller.WithoutDestroyer].
func Register(engine controller.Engine, definitions ...Definition) error {
	controllers, err := buildAll(definitions)
	if err != nil {
		return err
	}

	for i, ctrl := range controllers {
		err := engine.RegisterQController(ctrl)
		if err == nil {
			continue
		}

		if errors.Is(err, dependency.ErrNameTaken) && shared(ctrl) {
			controllers[i] = nil // it is there, and not ours to unregister

			continue
		}

		err = fmt.Errorf("operator: registering controller %q%s: %w", ctrl.Name(), sharing(ctrl), err)

		return errors.Join(err, unregister(engine, controllers[:i]))
	}

	return nil
}

// unregister takes back what was registered, where the engine can do that.
func unregister(engine controller.Engine, controllers []controller.QController) error {
	able, ok := engine.(interface {
		Unregister(ctx context.Context, name string) error
	})
	if !ok {
		return nil
	}

	var errs []error

	for _, ctrl := range controllers {
		if ctrl != nil {
			errs = append(errs, able.Unregister(context.Background(), ctrl.Name()))
		}
	}

	return errors.Join(errs...)
}

// shared tells whether a controller is one that operators share.
func shared(ctrl controller.QController) bool {
	_, own := ctrl.(*qController)

	return !own
}

// sharing says what to do if the engine has a controller already that operators share.
func sharing(ctrl controller.QController) string {
	if !shared(ctrl) {
		return ""
	}

	return ", which is there once for all operators: give all of an engine to one Register"
}

func buildAll(definitions []Definition) (controllers []controller.QController, err error) {
	if err := checkAll(definitions); err != nil {
		return nil, err
	}

	destroyed, swept := map[reduced.Kind]bool{}, map[resource.Namespace]bool{}

	for _, def := range definitions {
		d := def.defined()

		ctrl, err := d.build()
		if err != nil {
			return nil, err
		}

		controllers = append(controllers, ctrl)

		if !d.keeps && !destroyed[d.primary] {
			controllers = append(controllers, d.destroyer())
		}

		if !d.events.off && d.events.recorder == nil && !swept[d.primary.Namespace] {
			controllers = append(controllers, EventSweeper(d.primary.Namespace, EventTTL))
		}

		destroyed[d.primary] = destroyed[d.primary] || !d.keeps
		swept[d.primary.Namespace] = swept[d.primary.Namespace] || !d.events.off && d.events.recorder == nil
	}

	return controllers, nil
}

// checkAll tells all mistakes of all definitions. What is built can not be mended any more, so all are checked before the
// first is built.
func checkAll(definitions []Definition) error {
	var errs []error

	names := map[string]bool{}
	holders := map[holding]string{}

	for i, def := range definitions {
		if def == nil {
			errs = append(errs, fmt.Errorf("operator: definition %d is nil: leave it out", i+1))

			continue
		}

		errs = append(errs, def.defined().check())

		if names[def.Name()] {
			errs = append(errs, &DefinitionError{def.Name(), []string{"there are two of this name: give each controller a name of its own"}})
		}

		names[def.Name()] = true

		errs = append(errs, def.defined().checkHolding(holders))
	}

	return errors.Join(errs...)
}

// holding is a finalizer on primaries of a kind.
type holding struct {
	primary   reduced.Kind
	finalizer resource.Finalizer
}

// checkHolding sees that each controller of a kind has a finalizer of its own: of two with the same one, the first to be done would
// let the primary go from the other.
func (d *definition) checkHolding(holders map[holding]string) error {
	if !d.needsFinalizer() {
		return nil
	}

	for _, finalizer := range []resource.Finalizer{d.heldBy(), resource.Finalizer(d.name)} {
		held := holding{d.primary, finalizer}

		if holder, taken := holders[held]; taken && holder != d.name {
			return &DefinitionError{d.name, []string{fmt.Sprintf(
				"the finalizer %q is that of controller %q as well, which also works on %s: give Finalize a key of its own", finalizer, holder, d.primary.Type)}}
		}

		holders[held] = d.name
	}

	return nil
}

// WithoutDestroyer keeps [Register] from adding a controller that destroys the primaries that are torn down: somebody else does.
func (c *Controller[P]) WithoutDestroyer() *Controller[P] {
	c.define().keeps = true

	return c
}

// destroyer destroys primaries that belong to nobody, are torn down, and have no finalizer left.
type destroyer struct {
	*destroy.Controller

	name string
}

func (d *destroyer) Name() string { return d.name }

func (d *definition) destroyer() controller.QController {
	rd := meta.ResourceDefinitionSpec{Type: d.primary.Type, DefaultNamespace: d.primary.Namespace}
	ctrl := destroy.NewControllerForResource(rd, optional.None[uint]())

	if d.primary.Namespace == d.home {
		return ctrl
	}

	return &destroyer{ctrl, fmt.Sprintf("Destroy[%s/%s]", d.primary.Namespace, d.primary.Type)}
}
