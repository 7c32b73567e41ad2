package rivalry_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/rivalry"
)

// box is a resource with any spec.
type box struct {
	md   resource.Metadata
	spec any
}

func (b *box) Metadata() *resource.Metadata { return &b.md }
func (b *box) Spec() any                    { return b.spec }
func (b *box) DeepCopy() resource.Resource  { return &box{b.md.Copy(), b.spec} }

func boxed(spec any) *box {
	return &box{resource.NewMetadata("n", "Boxes", "a", resource.VersionUndefined), spec}
}

// fightFor has two controllers write two contents by turns, and returns what they are found to fight for.
func fightFor(left, right resource.Resource) (fields []string) {
	b := newBench()

	for range 50 {
		b.write("left", left)
		b.write("right", right)
	}

	if len(b.found) == 0 {
		return nil
	}

	return b.found[0].Fields
}

type (
	common struct{ Kind string }
	inner  struct {
		Mode  string `yaml:"mode,omitempty"`
		Limit *int   `yaml:"limit"`
		Deep  map[string]inner
	}
	outer struct {
		common `yaml:",inline"`
		Common common
		Name   string `yaml:"-"`
		Inner  inner  `yaml:"inner"`
		Slice  []inner
		Count  map[int]string
		Until  time.Time
		Addr   netip.Addr
		Ratio  float64
		Raw    []byte
		Any    any
		Next   *outer
		hidden int
		Do     func()
	}
)

// What differs is named as it is in YAML, as far as it can be told apart.
func TestFieldsAreNamed(t *testing.T) {
	t.Parallel()

	one, two := 1, 2
	now := time.Unix(0, 1)

	for name, c := range map[string]struct {
		left, right any
		fields      []string
	}{
		"nothing":          {outer{}, outer{}, nil},
		"what is hidden":   {outer{hidden: 1}, outer{}, nil},
		"functions":        {outer{Do: func() {}}, outer{}, nil},
		"another name":     {outer{Inner: inner{Mode: "a"}}, outer{}, []string{"spec.inner.mode"}},
		"no name":          {outer{Name: "a"}, outer{}, []string{"spec.name"}},
		"embedded":         {outer{Common: common{"a"}}, outer{}, []string{"spec.common.kind"}},
		"a pointer":        {outer{Inner: inner{Limit: &one}}, outer{Inner: inner{Limit: &two}}, []string{"spec.inner.limit"}},
		"a pointer or nil": {outer{Inner: inner{Limit: &one}}, outer{}, []string{"spec.inner.limit"}},
		"a list":           {outer{Slice: []inner{{Mode: "a"}, {}}}, outer{Slice: []inner{{}, {Mode: "a"}}}, []string{"spec.slice"}},
		"an entry":         {outer{Count: map[int]string{1: "a", 2: "b"}}, outer{Count: map[int]string{1: "b", 2: "b"}}, []string{"spec.count.1"}},
		"keys":             {map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, map[netip.Addr]int{netip.MustParseAddr("::1"): 2}, nil},
		"a time":           {outer{Until: now}, outer{Until: now.Add(1)}, []string{"spec.until"}},
		"another place":    {outer{Until: now.UTC()}, outer{Until: now.In(time.FixedZone("", 1))}, nil},
		"an address":       {outer{Addr: netip.MustParseAddr("10.0.0.1")}, outer{Addr: netip.MustParseAddr("10.0.0.2")}, []string{"spec.addr"}},
		"a ratio":          {outer{Ratio: 0.1}, outer{Ratio: 0.2}, []string{"spec.ratio"}},
		"bytes":            {outer{Raw: []byte("a")}, outer{Raw: []byte("b")}, []string{"spec.raw"}},
		"anything":         {outer{Any: map[string]any{"a": []any{1, "b"}}}, outer{Any: map[string]any{"a": []any{1, "c"}}}, []string{"spec.any.a"}},
		"a list of any": {
			outer{Any: []any{1, true, uint8(3), map[string]bool{"a": true}}}, outer{Any: []any{1, true, uint8(3), map[string]bool{"a": false}}},
			[]string{"spec.any"},
		},
		"several":         {outer{Name: "a", Ratio: 1}, outer{Name: "b", Ratio: 2}, []string{"spec.name", "spec.ratio"}},
		"deep down":       {nested(10, 1), nested(10, 2), []string{"spec" + strings.Repeat(".next", 6)}},
		"beyond all":      {nested(100, 1), nested(100, 2), nil},
		"no struct":       {"a", "b", []string{"spec"}},
		"a long map":      {longMap(200, 1), longMap(200, 2), []string{"spec"}},
		"too long a map":  {longMap(10_000, 1), longMap(10_000, 2), nil},
		"many fields":     {[2]any{longMap(100, 1), 0}, [2]any{longMap(100, 2), 0}, []string{"spec"}},
		"too many fields": {map[string]any{"a": longMap(100, 1), "b": longMap(100, 1)}, map[string]any{"a": longMap(100, 1), "b": longMap(100, 2)}, []string{"(others)"}},
		"a long name":     {map[string]int{strings.Repeat("a", 1000): 1}, map[string]int{strings.Repeat("a", 1000): 2}, []string{"spec." + strings.Repeat("a", 115)}},
		"a message": {
			message("a", "x"), message("b", "x"), []string{"spec.namespace"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := fightFor(boxed(c.left), boxed(c.right))

			if name == "keys" {
				require.Len(t, got, 1)
				assert.True(t, strings.HasPrefix(got[0], "spec."))

				return
			}

			assert.Equal(t, c.fields, got)
			assert.Equal(t, c.fields, fightFor(boxed(&c.left), boxed(&c.right)), "a pointer is what it points to")
		})
	}
}

func nested(depth, value int) *outer {
	if depth == 0 {
		return &outer{Any: value}
	}

	return &outer{Next: nested(depth-1, value)}
}

// longMap is a map of which all entries but the last are alike.
func longMap(length, last int) map[string]int {
	m := map[string]int{}
	for i := range length {
		m[fmt.Sprintf("%06d", i)] = 0
	}

	m[fmt.Sprintf("%06d", length-1)] = last

	return m
}

func message(namespace, id string) any {
	spec := protobuf.NewResourceSpec[v1alpha1.Metadata](&v1alpha1.Metadata{Namespace: namespace, Id: id})

	return &spec
}

// Specs that show nothing of their own are told apart as a whole.
func TestOpaqueSpecs(t *testing.T) {
	t.Parallel()

	assert.Equal(t, []string{"spec"}, fightFor(conformance.NewIntResource("n", "a", 1), conformance.NewIntResource("n", "a", 2)))

	anything := func(yaml string) resource.Resource {
		md := &v1alpha1.Metadata{Namespace: "n", Type: "Boxes", Id: "a", Version: "1", Phase: "running"}

		res, err := resource.NewAnyFromProto(md, specYAML(yaml))
		require.NoError(t, err)

		return res
	}

	assert.Equal(t, []string{"spec"}, fightFor(anything("a: 1"), anything("a: 2")))
	assert.Empty(t, fightFor(anything("a: 1"), anything("a: 1")))
}

type specYAML string

func (s specYAML) GetYaml() []byte { return []byte(s) }

// A spec that refers to itself is looked at as far as it is worth while, and one that panics is left alone.
func TestHostileSpecs(t *testing.T) {
	t.Parallel()

	circle := &outer{Name: "a"}
	circle.Next = circle

	assert.Equal(t, []string{"spec.name"}, fightFor(boxed(circle), boxed(&outer{Name: "b", Next: circle})))
	assert.Empty(t, fightFor(panics{boxed(1)}, panics{boxed(2)}))

	var pointer any

	pointer = &pointer
	assert.Empty(t, fightFor(boxed(pointer), boxed(&pointer)))
	assert.Empty(t, fightFor(boxed(nil), boxed((*outer)(nil))))
}

type panics struct{ *box }

func (panics) Spec() any { panic("no") }

// What rivals fight for is named as far as it is bounded.
func TestManyFieldsAreFoughtFor(t *testing.T) {
	t.Parallel()

	left, right := map[string]int{}, map[string]int{}
	for i := range 100 {
		left[fmt.Sprintf("%02d", i)] = 1
		right[fmt.Sprintf("%02d", i)] = 2
	}

	assert.Len(t, fightFor(boxed(left), boxed(right)), 16)
}

// Many rivals are named as far as it is bounded.
func TestManyRivals(t *testing.T) {
	t.Parallel()

	b := newBench()

	for i := range 10_000 {
		md := b.write(fmt.Sprint(i%20), newThing("a", i%4))
		b.Delay(&md)
	}

	require.Equal(t, 1, b.Len())
	assert.Len(t, b.Rivalries()[0].Controllers, 16)

	for i := range 20 {
		b.Left(fmt.Sprint(i))
	}

	var over []rivalry.Rivalry
	_, over = b.Due()
	assert.Len(t, over, 1)
}
