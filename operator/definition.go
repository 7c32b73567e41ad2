package operator

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reduced"
)

// handler is a handler of any kind.
type handler func(ctx context.Context, run *pass) error

// definition is what has been said of a controller, whatever the type of its primaries.
type definition struct {
	name     string
	primary  reduced.Kind
	home     resource.Namespace // where primaries are by their definition
	selector resource.LabelQuery
	workers  int // 0 is 1
	every    time.Duration
	resync   time.Duration
	timeout  time.Duration
	mutates  bool
	keeps    bool // somebody else destroys primaries
	built    bool

	// What runs: one of the three.
	reconcile   *step
	reconcilers int // how often Reconcile was called
	stages      []*step
	root        *step // of cases

	finalize   *step
	finalizer  resource.Finalizer
	finalizers []resource.Finalizer // all that were given

	owned   []*ownedKind
	watched []*watchedKind
	status  *statusKind
	reports reporting
	events  eventing

	// described are the types of all that was declared.
	described []meta.ResourceWithRD
	// problems are what is wrong, in the order in which it was said.
	problems []string
	// order is the steps of a pass, set by check.
	order []*step
}

func (d *definition) problem(format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, args...))
}

// declare returns the definition of a type of resources that the controller has to do with.
func declare[R generic.ResourceWithRD](d *definition, what string) meta.ResourceDefinitionSpec {
	rd, err := definitionOf[R]()
	if err != nil {
		d.problem("%s: %v", what, err)

		return rd
	}

	var none R

	d.described = append(d.described, none)

	return rd
}

// definitionOf returns the definition of a type of resources.
func definitionOf[R generic.ResourceWithRD]() (rd meta.ResourceDefinitionSpec, err error) {
	err = contain.Call(func() error {
		var none R

		rd = none.ResourceDefinition()

		return nil
	})

	switch {
	case err != nil:
		return rd, fmt.Errorf("the ResourceDefinition of %s can not be called on a nil pointer (%w): let it not look at the receiver", typeName[R](), err)
	case rd.Type == "":
		return rd, fmt.Errorf("the ResourceDefinition of %s has no Type: give it one", typeName[R]())
	default:
		return rd, nil
	}
}

// packagePath is what stands before the last element of an import path.
var packagePath = regexp.MustCompile(`[^][*,]*/`)

func typeName[R any]() string {
	var none R

	return typeNameOf(none)
}

// typeNameOf names a type without the paths of packages, which are long in the parameters of generic ones.
func typeNameOf(value any) string { return packagePath.ReplaceAllString(fmt.Sprintf("%T", value), "") }

// kindOption places a kind.
type kindOptions struct {
	namespace    resource.Namespace
	hasNamespace bool
	shared       bool
}

// KindOption says more about a kind that a controller owns or watches.
type KindOption func(*kindOptions)

// InNamespace says where the resources of the kind are. The default for what is watched is what the definition of its type
// says; the default for what is owned is the namespace of the primary, and another one has to be said with this.
func InNamespace(ns resource.Namespace) KindOption {
	return func(o *kindOptions) { o.namespace, o.hasNamespace = ns, true }
}

// Shared says that other controllers write resources of the kind as well, though not the same ones. The default is that this
// controller is the only one.
func Shared() KindOption { return func(o *kindOptions) { o.shared = true } }

func (d *definition) options(what string, opts []KindOption) (o kindOptions) {
	for i, opt := range opts {
		if opt == nil {
			d.problem("option %d of %s is nil: leave it out", i+1, what)

			continue
		}

		opt(&o)
	}

	return o
}
