package simulation

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

const (
	namespace = resource.Namespace("simulation")
	// parent is the label of a resource that belongs to another one.
	parent = "parent"
	// most is how many nodes a graph may have.
	most = 8
)

// number is what all resources of a world hold.
type number struct{ N int64 }

// DeepCopy implements the contract's interface for typed resources.
func (n number) DeepCopy() number { return n }

// MarshalProto implements [protobuf.ProtoMarshaler].
func (n number) MarshalProto() ([]byte, error) { return binary.AppendVarint(nil, n.N), nil }

// UnmarshalProto implements [protobuf.ProtoUnmarshaler].
func (n *number) UnmarshalProto(data []byte) error {
	if len(data) == 0 {
		return nil // the end of the contents is sent with an empty resource
	}

	value, size := binary.Varint(data)
	if size <= 0 {
		return fmt.Errorf("%x is not a number", data)
	}

	n.N = value

	return nil
}

type anyType struct{}

func (anyType) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Any.simulation", DefaultNamespace: namespace}
}

// value is a resource of a world, of any type.
type value = typed.Resource[number, anyType]

func newValue(typ resource.Type, id resource.ID) *value {
	return typed.NewResource[number, anyType](resource.NewMetadata(namespace, typ, id, resource.VersionUndefined), number{})
}

func kind(typ resource.Type) resource.Metadata {
	return resource.NewMetadata(namespace, typ, "", resource.VersionUndefined)
}

// Types of the sources, which the script writes, and of what the nodes of a graph make.
func sourceType(n int) resource.Type { return "Source" + strconv.Itoa(n) + ".simulation" }
func nodeType(n int) resource.Type   { return "Node" + strconv.Itoa(n) + ".simulation" }

const sources = 2

// RegisterTypes lets resources travel over a connection.
func RegisterTypes() error {
	types := make([]resource.Type, 0, sources+most)

	for n := range sources {
		types = append(types, sourceType(n))
	}

	for n := range most {
		types = append(types, nodeType(n))
	}

	for _, typ := range types {
		if err := protobuf.RegisterResource(typ, &value{}); err != nil {
			return err
		}
	}

	return nil
}
