package recording

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"go.yaml.in/yaml/v4"
)

// content is a resource as a recording holds it: the spec as the contract's wire format has it, and in YAML for people.
type content struct {
	name

	Version     string               `json:"version,omitempty"`
	Owner       string               `json:"owner,omitempty"`
	Phase       string               `json:"phase"`
	Created     time.Time            `json:"created"`
	Updated     time.Time            `json:"updated"`
	Finalizers  []resource.Finalizer `json:"finalizers,omitempty"`
	Labels      map[string]string    `json:"labels,omitempty"`
	Annotations map[string]string    `json:"annotations,omitempty"`
	Spec        []byte               `json:"spec,omitempty"`
	YAML        string               `json:"yaml,omitempty"`
	// Raw tells that nobody had decoded the spec.
	Raw bool `json:"raw,omitempty"`
}

// numbered is a content under its number.
type numbered struct {
	Number  int      `json:"number"`
	Content *content `json:"content"`
}

// encode makes a content of a resource.
func encode(res resource.Resource, opts ...protobuf.FromResourceOption) (*content, error) {
	wire, err := protobuf.FromResource(res, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be recorded: %w; register its type with protobuf.RegisterResource or RegisterDynamic",
			resource.String(res), err)
	}

	message, err := wire.Marshal()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be recorded: %w", resource.String(res), err)
	}

	md := res.Metadata()
	_, raw := res.(*protobuf.Resource)

	return &content{
		name:        nameOf(md),
		Version:     md.Version().String(),
		Owner:       md.Owner(),
		Phase:       md.Phase().String(),
		Created:     md.Created().UTC(),
		Updated:     md.Updated().UTC(),
		Finalizers:  *md.Finalizers(),
		Labels:      md.Labels().Raw(),
		Annotations: md.Annotations().Raw(),
		Spec:        message.GetSpec().GetProtoSpec(),
		YAML:        message.GetSpec().GetYamlSpec(),
		Raw:         raw,
	}, nil
}

// errUnregistered is why a resource can not be decoded whose type nobody has registered.
var errUnregistered = errors.New("its type is not registered; link the package that registers it with protobuf.RegisterResource or RegisterDynamic")

// decode makes a fresh resource of a content.
func (c *content) decode() (resource.Resource, error) {
	md, err := c.metadata()
	if err != nil {
		return nil, err
	}

	wire, err := protobuf.Unmarshal(&v1alpha1.Resource{
		Metadata: &v1alpha1.Metadata{Namespace: c.Namespace, Type: c.Type, Id: c.ID, Version: c.Version, Phase: c.Phase},
		Spec:     &v1alpha1.Spec{ProtoSpec: c.Spec, YamlSpec: c.YAML},
	})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", c.name, err)
	}

	*wire.Metadata() = md

	if c.Raw {
		return wire, nil
	}

	res, err := protobuf.UnmarshalResource(wire)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", c.name, err)
	}

	if res == resource.Resource(wire) {
		return nil, fmt.Errorf("%s cannot be read: %w", c.name, errUnregistered)
	}

	*res.Metadata() = md

	return res, nil
}

func (c *content) metadata() (resource.Metadata, error) {
	version, err := resource.ParseVersion(c.Version)
	if err != nil {
		return resource.Metadata{}, fmt.Errorf("%s cannot be read: %w", c.name, err)
	}

	phase, err := resource.ParsePhase(c.Phase)
	if err != nil {
		return resource.Metadata{}, fmt.Errorf("%s cannot be read: %w", c.name, err)
	}

	md := resource.NewMetadata(c.Namespace, c.Type, c.ID, version)
	md.SetPhase(phase)
	md.SetCreated(c.Created.Local())
	md.SetUpdated(c.Updated.Local())

	for _, finalizer := range c.Finalizers {
		md.Finalizers().Add(finalizer)
	}

	for key, value := range c.Labels {
		md.Labels().Set(key, value)
	}

	for key, value := range c.Annotations {
		md.Annotations().Set(key, value)
	}

	return md, md.SetOwner(c.Owner)
}

// stamp puts on a resource what the state has put on the recorded one: version, owner, times, and the annotations, among which
// there may be some that only the state writes. What the writer has said of them was compared before.
func (c *content) stamp(res resource.Resource) error {
	md, err := c.metadata()
	if err != nil {
		return err
	}

	res.Metadata().SetVersion(md.Version())
	res.Metadata().SetCreated(md.Created())
	res.Metadata().SetUpdated(md.Updated())
	*res.Metadata().Annotations() = *md.Annotations()

	return res.Metadata().SetOwner(md.Owner())
}

// settled returns the resource as it is after it was encoded and decoded: what differs only in what the wire format does not
// know comes out the same.
func settled(res resource.Resource) (resource.Resource, error) {
	c, err := encode(res, protobuf.WithoutYAML())
	if err != nil {
		return nil, err
	}

	return c.decode()
}

// text is the content for people. The spec is in YAML; where that shows nothing of it, as of one without exported fields,
// it is in hex.
func (c *content) text() string {
	shown := struct {
		Phase       string               `yaml:"phase"`
		Finalizers  []resource.Finalizer `yaml:"finalizers,omitempty"`
		Labels      map[string]string    `yaml:"labels,omitempty"`
		Annotations map[string]string    `yaml:"annotations,omitempty"`
	}{c.Phase, c.Finalizers, c.Labels, c.Annotations}

	metadata, err := yaml.Marshal(shown)
	if err != nil {
		metadata = []byte(err.Error() + "\n") // texts and lists of texts: it does not happen
	}

	spec := strings.TrimSpace(c.YAML)

	var node yaml.Node
	if err := yaml.Unmarshal([]byte(spec), &node); err != nil || !says(&node) {
		spec = "!!binary " + hex.EncodeToString(c.Spec)
	}

	return string(metadata) + "spec:\n" + indent(spec, "  ") + "\n"
}

// says tells whether a value is given anywhere in a node.
func says(node *yaml.Node) bool {
	switch node.Kind {
	case yaml.ScalarNode:
		return node.Tag != "!!null"
	case yaml.MappingNode:
		for i := 1; i < len(node.Content); i += 2 {
			if says(node.Content[i]) {
				return true
			}
		}

		return false
	default:
		return slices.ContainsFunc(node.Content, says)
	}
}

// hash is the same for the same resource. The wire format may order the entries of a map differently each time, and YAML
// need not show all: so it is of the YAML, and of the bytes of the wire format in ascending order.
func (c *content) hash() [sha256.Size]byte {
	same := *c
	same.Spec = slices.Sorted(slices.Values(c.Spec))

	text, err := json.Marshal(same)
	if err != nil {
		text = []byte(err.Error()) // texts and times: it does not happen
	}

	return sha256.Sum256(text)
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

// sum identifies the content among others.
func (c *content) sum() (sum [sha256.Size]byte, err error) {
	text, err := json.Marshal(c)

	return sha256.Sum256(text), err
}
