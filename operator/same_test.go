package operator

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
)

type manifold struct {
	Names  []string
	Values map[string][]int
	Inner  *manifold
	Any    any
	At     time.Time
}

type plain struct {
	md   resource.Metadata
	spec manifold
}

func (p *plain) Metadata() *resource.Metadata { return &p.md }
func (p *plain) Spec() any                    { return &p.spec }

func (p *plain) DeepCopy() resource.Resource {
	other := *p

	return &other
}

// Nothing and empty are the same, wherever they are; nothing else is.
func TestSameButForWhatIsEmpty(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	of := func(spec manifold) *plain {
		return &plain{resource.NewMetadata("n", "T", "a", resource.VersionUndefined), spec}
	}
	full := manifold{[]string{"a"}, map[string][]int{"a": {1}}, &manifold{}, []string{}, at}

	for _, test := range []struct {
		name string
		a, b manifold
		same bool
	}{
		{"nothing and empty", manifold{}, manifold{Names: []string{}, Values: map[string][]int{}}, true},
		{"further in", manifold{Values: map[string][]int{"a": nil}, Inner: &manifold{Names: []string{}}}, manifold{Values: map[string][]int{"a": {}}, Inner: &manifold{}}, true},
		{"what is in an interface", manifold{Any: []string{}}, manifold{Any: []string(nil)}, true},
		{"another type in an interface", manifold{Any: []string{}}, manifold{Any: []int{}}, false},
		{"something and nothing", manifold{Names: []string{"a"}}, manifold{}, false},
		{"another key", manifold{Values: map[string][]int{"a": nil}}, manifold{Values: map[string][]int{"b": nil}}, false},
		{"a pointer and none", manifold{Inner: &manifold{}}, manifold{}, false},
		{"another time", manifold{At: at}, manifold{At: at.Add(1)}, false},
		{"the same", full, full, true},
	} {
		require.Equal(t, test.same, same(of(test.a), of(test.b)), test.name)
		require.Equal(t, test.same, same(of(test.b), of(test.a)), test.name)
	}

	labelled := of(full)
	labelled.md.Labels().Set("a", "b")
	require.False(t, same(of(full), labelled))
}
