package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/controller/generic/transform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"go.uber.org/zap"
)

// The contract's generic controllers want a Go type for each resource type. Two digits make a hundred of them.
type (
	digit interface{ digit() int }

	d0 struct{}
	d1 struct{}
	d2 struct{}
	d3 struct{}
	d4 struct{}
	d5 struct{}
	d6 struct{}
	d7 struct{}
	d8 struct{}
	d9 struct{}
)

func (d0) digit() int { return 0 }
func (d1) digit() int { return 1 }
func (d2) digit() int { return 2 }
func (d3) digit() int { return 3 }
func (d4) digit() int { return 4 }
func (d5) digit() int { return 5 }
func (d6) digit() int { return 6 }
func (d7) digit() int { return 7 }
func (d8) digit() int { return 8 }
func (d9) digit() int { return 9 }

// stageTypes are the types of the stages of a chain.
var stageTypes = func() (types [100]resource.Type) {
	for i := range types {
		types[i] = fmt.Sprintf("Stage%02d.bench", i)
	}

	return types
}()

// stageSpec is what is handed on along a chain.
type stageSpec struct{ Value int }

// DeepCopy implements the contract's interface for specifications.
func (s stageSpec) DeepCopy() stageSpec { return s }

type stageDefinition[T, U digit] struct{}

// ResourceDefinition implements the contract's interface for definitions.
func (stageDefinition[T, U]) ResourceDefinition() meta.ResourceDefinitionSpec {
	var (
		tens T
		ones U
	)

	return meta.ResourceDefinitionSpec{Type: stageTypes[10*tens.digit()+ones.digit()], DefaultNamespace: namespace}
}

type stage[T, U digit] = typed.Resource[stageSpec, stageDefinition[T, U]]

// newStage returns a resource of a stage with what an earlier one has, the value aside.
func newStage[T, U digit](id resource.ID) *stage[T, U] {
	typ := stageDefinition[T, U]{}.ResourceDefinition().Type

	return typed.NewResource[stageSpec, stageDefinition[T, U]](resource.NewMetadata(namespace, typ, id, resource.VersionUndefined), stageSpec{})
}

type head = stage[d0, d0]

func newHead(id resource.ID) *head { return newStage[d0, d0](id) }

// valueOf returns what a resource of any stage hands on.
func valueOf(res resource.Resource) int { return res.Spec().(*stageSpec).Value }

// link makes the controllers that write one stage from the one before.
type link struct {
	transform  func() controller.Controller
	qtransform func() controller.QController
}

func newLink[T, U, V, W digit]() link {
	name := stageDefinition[V, W]{}.ResourceDefinition().Type + "-controller"
	hand := func(_ context.Context, _ controller.Reader, _ *zap.Logger, in *stage[T, U], out *stage[V, W]) error {
		out.TypedSpec().Value = in.TypedSpec().Value

		return nil
	}
	forth := func(in *stage[T, U]) *stage[V, W] { return newStage[V, W](in.Metadata().ID()) }
	back := func(out *stage[V, W]) *stage[T, U] { return newStage[T, U](out.Metadata().ID()) }

	return link{
		transform: func() controller.Controller {
			return transform.NewController(transform.Settings[*stage[T, U], *stage[V, W]]{
				Name: name, MapMetadataFunc: forth, TransformFunc: hand,
			})
		},
		qtransform: func() controller.QController {
			return qtransform.NewQController(qtransform.Settings[*stage[T, U], *stage[V, W]]{
				Name: name, MapMetadataFunc: forth, UnmapMetadataFunc: back, TransformFunc: hand,
			})
		},
	}
}

// tenLinks lead from the first stage with one first digit to the first with the next.
func tenLinks[T, Next digit]() []link {
	return []link{
		newLink[T, d0, T, d1](), newLink[T, d1, T, d2](), newLink[T, d2, T, d3](), newLink[T, d3, T, d4](), newLink[T, d4, T, d5](),
		newLink[T, d5, T, d6](), newLink[T, d6, T, d7](), newLink[T, d7, T, d8](), newLink[T, d8, T, d9](), newLink[T, d9, Next, d0](),
	}
}

// links returns the first so many of fifty.
func links(count int) []link {
	return slices.Concat(tenLinks[d0, d1](), tenLinks[d1, d2](), tenLinks[d2, d3](), tenLinks[d3, d4](), tenLinks[d4, d5]())[:count]
}
