package reduced_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
)

// moody is a spec that can not be compared.
type moody struct{}

func (moody) Equal(any) bool { panic("not today") }

type changing struct {
	md   resource.Metadata
	spec any
}

func (c *changing) Metadata() *resource.Metadata { return &c.md }
func (c *changing) Spec() any                    { return c.spec }
func (c *changing) DeepCopy() resource.Resource  { return &changing{c.md.Copy(), c.spec} }
func (c *changing) with(edit func(*changing)) *changing {
	other := c.DeepCopy().(*changing)
	edit(other)

	return other
}

func TestBetween(t *testing.T) {
	t.Parallel()

	base := &changing{resource.NewMetadata("n", "T", "a", resource.VersionUndefined), 1}
	label := func(c *changing) { c.md.Labels().Set("a", "b") }

	for name, test := range map[string]struct {
		older resource.Resource
		edit  func(*changing)
		want  reduced.Change
	}{
		"nothing of the metadata": {base, func(*changing) {}, reduced.ChangeSpec},
		"labels":                  {base, label, reduced.ChangeLabels},
		"labels and spec":         {base, func(c *changing) { label(c); c.spec = 2 }, reduced.ChangeLabels | reduced.ChangeSpec},
		"annotations":             {base, func(c *changing) { c.md.Annotations().Set("a", "b") }, reduced.ChangeAnnotations},
		"a finalizer":             {base, func(c *changing) { c.md.Finalizers().Add("f") }, reduced.ChangeFinalizers},
		"the phase":               {base, func(c *changing) { c.md.SetPhase(resource.PhaseTearingDown) }, reduced.ChangePhase},
		"an older one is missing": {nil, label, reduced.ChangeSpec},
		"a spec that panics": {
			base.with(func(c *changing) { c.spec = moody{} }), label, reduced.ChangeLabels | reduced.ChangeSpec,
		},
	} {
		require.Equal(t, test.want, reduced.Between(test.older, base.with(test.edit)), name)
	}

	require.Equal(t, "labels, finalizers", (reduced.ChangeLabels | reduced.ChangeFinalizers).String())
}

// A destroy that nobody has seen is among what has changed, as soon as another life of the resource is seen.
func TestUnseenDestroysAreChanges(t *testing.T) {
	t.Parallel()

	of := func(born int64, change reduced.Change) reduced.Metadata {
		res := &changing{resource.NewMetadata("n", "T", "a", resource.VersionUndefined), 1}
		res.md.SetCreated(time.Unix(born, 0))

		return reduced.Of(res, false).Changed(change)
	}
	one, other := of(1, reduced.ChangeSpec), of(2, reduced.ChangeCreated)

	recreated := other.Recreated().AfterGap()
	require.Equal(t, reduced.ChangeDestroyed|reduced.ChangeListed, recreated.Change())

	both := reduced.Merge(one, other)
	require.Equal(t, reduced.ChangeSpec|reduced.ChangeCreated|reduced.ChangeDestroyed, both.Change())

	same := reduced.Merge(one, one)
	require.Equal(t, reduced.ChangeSpec, same.Change())
}
