package dependency_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/optional"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// thing is a resource without a spec.
type thing struct{ md resource.Metadata }

func (t *thing) Metadata() *resource.Metadata { return &t.md }
func (t *thing) Spec() any                    { return nil }
func (t *thing) DeepCopy() resource.Resource  { return &thing{t.md} }

// changed reduces a running resource.
func changed(ns, typ, id string) reduced.Metadata {
	return reduced.Of(&thing{resource.NewMetadata(ns, typ, id, resource.VersionUndefined)}, false)
}

// tearingDown reduces a resource that is tearing down, with or without a finalizer left.
func tearingDown(ns, typ, id string, held bool) reduced.Metadata {
	res := &thing{resource.NewMetadata(ns, typ, id, resource.VersionUndefined)}
	res.md.SetPhase(resource.PhaseTearingDown)

	if held {
		res.md.Finalizers().Add("holder")
	}

	return reduced.Of(res, false)
}

func whole(kind controller.InputKind, ns, typ string) controller.Input {
	return controller.Input{Namespace: ns, Type: typ, Kind: kind}
}

func byID(kind controller.InputKind, ns, typ, id string) controller.Input {
	return controller.Input{Namespace: ns, Type: typ, ID: optional.Some(id), Kind: kind}
}

func exclusive(typ string) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputExclusive}
}

func shared(typ string) controller.Output {
	return controller.Output{Type: typ, Kind: controller.OutputShared}
}

func kindOf(ns, typ string) reduced.Kind { return reduced.Kind{Namespace: ns, Type: typ} }

func keyOf(ns, typ, id string) reduced.Key { return reduced.Key{Kind: kindOf(ns, typ), ID: id} }

// log collects what a router hands over.
type log struct {
	router *dependency.Router[string]
	visits []visit
}

type visit struct {
	target string
	kind   controller.InputKind
}

func newLog(db *dependency.Database[string]) *log {
	l := &log{}
	l.router = dependency.NewRouter(db, func(target string, _ []reduced.Metadata, kind controller.InputKind) {
		l.visits = append(l.visits, visit{target, kind})
	})

	return l
}

func (l *log) route(md reduced.Metadata) []visit {
	l.visits = nil
	l.router.Route([]reduced.Metadata{md})

	return l.visits
}
