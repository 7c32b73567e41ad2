package main

import (
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/optional"
)

// The namespace of all resources, and the types of workloads that need few.
const (
	namespace = "bench"
	itemType  = "Items.bench"
	otherType = "Others.bench"
)

// history is how many events the state keeps for each kind, so that no watch is cut off, however slow its reader.
const history = 1 << 18

// newState returns the contract's state in memory. A workload of many kinds starts with a shorter history for each,
// which grows as it is needed.
func newState(kinds int) state.State {
	return state.WrapCore(namespaced.NewState(func(ns resource.Namespace) state.CoreState {
		return inmem.NewStateWithOptions(
			inmem.WithHistoryMaxCapacity(history),
			inmem.WithHistoryInitialCapacity(max(history/kinds, 16)),
			inmem.WithHistoryGap(5),
		)(ns)
	}))
}

// itemSpec is a specification of typical size.
type itemSpec struct {
	Name      string
	Addresses []string
	Port      int
	Enabled   bool
}

// DeepCopy implements the contract's interface for specifications.
func (s itemSpec) DeepCopy() itemSpec {
	s.Addresses = slices.Clone(s.Addresses)

	return s
}

type itemDefinition struct{}

// ResourceDefinition implements the contract's interface for definitions.
func (itemDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: itemType, DefaultNamespace: namespace}
}

type item = typed.Resource[itemSpec, itemDefinition]

// newItem returns a resource of typical size, with three labels. Labels of equal group have ten members if numbers
// are counted from zero.
func newItem(typ resource.Type, number int) *item {
	res := newNamed(typ, itemID(number), itemSpec{
		Name:      "item",
		Addresses: []string{"192.0.2.1", "2001:db8::1"},
		Port:      number,
		Enabled:   true,
	})

	labels := res.Metadata().Labels()
	labels.Set("group", fmt.Sprintf("group-%d", number/10))
	labels.Set("zone", "zone-1")
	labels.Set("role", "worker")

	return res
}

// newNamed returns a resource without labels.
func newNamed(typ resource.Type, id resource.ID, spec itemSpec) *item {
	return typed.NewResource[itemSpec, itemDefinition](resource.NewMetadata(namespace, typ, id, resource.VersionUndefined), spec)
}

// newItems returns resources with the numbers from zero up.
func newItems(typ resource.Type, count int) []*item {
	items := make([]*item, count)
	for i := range items {
		items[i] = newItem(typ, i)
	}

	return items
}

// itemID returns ids that sort as their numbers do. Those of ten numbers in a row share all but the last digit.
func itemID(number int) resource.ID { return fmt.Sprintf("item-%08d", number) }

func pointer(typ resource.Type, id resource.ID) resource.Pointer {
	return resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)
}

func kind(typ resource.Type) resource.Kind { return pointer(typ, "") }

func input(typ resource.Type, kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: namespace, Type: typ, Kind: kind}
}

func inputOf(typ resource.Type, id resource.ID, kind controller.InputKind) controller.Input {
	return controller.Input{Namespace: namespace, Type: typ, ID: optional.Some(id), Kind: kind}
}
