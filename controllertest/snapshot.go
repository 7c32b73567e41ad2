package controllertest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/davecgh/go-spew/spew"
	"github.com/pmezard/go-difflib/difflib"
	"go.yaml.in/yaml/v4"
)

// snapshot is the contents of a state, as far as they count: by resource, its YAML without versions and times.
type snapshot map[string]string

// snapshot takes one of all kinds that were ever seen.
func (w *World) snapshot() snapshot {
	w.mu.Lock()
	kinds := slices.SortedFunc(maps.Keys(w.kinds), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	w.mu.Unlock()

	all := snapshot{}

	for _, kind := range kinds {
		list, err := w.core.List(w.Context(), resource.NewMetadata(kind[0], kind[1], "", resource.VersionUndefined))
		if err != nil {
			w.Errorf("%s can not be listed: %s", shortType(kind[1]), err)

			continue
		}

		for _, res := range list.Items {
			if res = w.normalized(res.DeepCopy()); res != nil {
				all[place(res.Metadata())] = render1(res)
			}
		}
	}

	return all
}

// normalized returns what counts of a resource, which is the caller's to change; nil if it does not count at all.
func (w *World) normalized(res resource.Resource) resource.Resource {
	if w.normalize != nil {
		w.aside(func() { res = w.normalize(res) })
	}

	return res
}

// plain renders what YAML does not, such as a struct of which no field is exported, the same each time.
var plain = spew.ConfigState{Indent: "  ", DisablePointerAddresses: true, DisableCapacities: true, DisableMethods: true, SortKeys: true, SpewKeys: true}

// render1 renders a resource without what two runs have no reason to agree on.
func render1(res resource.Resource) string {
	md := res.Metadata()

	var out strings.Builder

	fmt.Fprintf(&out, "%s %s/%s\n", md.Namespace(), md.Type(), md.ID())
	fmt.Fprintf(&out, "phase: %s\nowner: %s\n", md.Phase(), md.Owner())

	for _, fin := range slices.Sorted(slices.Values(*md.Finalizers())) {
		fmt.Fprintf(&out, "finalizer: %s\n", fin)
	}

	for _, pairs := range []struct {
		name string
		of   map[string]string
	}{{"label", md.Labels().Raw()}, {"annotation", md.Annotations().Raw()}} {
		for _, key := range slices.Sorted(maps.Keys(pairs.of)) {
			fmt.Fprintf(&out, "%s %s: %s\n", pairs.name, key, pairs.of[key])
		}
	}

	if spec, err := yaml.Marshal(res.Spec()); err == nil && string(spec) != "{}\n" {
		out.Write(spec)
	} else {
		plain.Fdump(&out, res.Spec())
	}

	return out.String()
}

// difference tells how the contents differ, or returns nothing.
func (s snapshot) difference(name string, other snapshot, otherName string) string {
	var out strings.Builder

	keys := maps.Clone(s)
	maps.Copy(keys, other)

	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if s[key] == other[key] {
			continue
		}

		text, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(s[key]), B: difflib.SplitLines(other[key]), FromFile: name, ToFile: otherName, Context: 20,
		})
		out.WriteString(text)
	}

	return out.String()
}
