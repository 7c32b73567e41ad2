package cache_test

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/cache"
)

// model is resources in order of id: the plainest cache there is.
type model []resource.Resource

func (m *model) find(id resource.ID) (int, bool) {
	return slices.BinarySearchFunc(*m, id, func(res resource.Resource, id resource.ID) int { return cmp.Compare(res.Metadata().ID(), id) })
}

func (m *model) put(res resource.Resource) {
	at, there := m.find(res.Metadata().ID())
	if !there {
		*m = slices.Insert(*m, at, res)
	}

	(*m)[at] = res
}

func (m *model) delete(id resource.ID) {
	if at, there := m.find(id); there {
		*m = slices.Delete(*m, at, at+1)
	}
}

// scan is what List has to return.
func (m *model) scan(opts state.ListOptions) []pair {
	pairs := []pair{}

	for _, res := range *m {
		md := res.Metadata()

		if opts.IDQuery.Matches(*md) && opts.LabelQueries.Matches(*md.Labels()) {
			pairs = append(pairs, pair{md.ID(), res.(conformance.IntegerResource).Value()})
		}
	}

	return pairs
}

// requireSame is require.Equal, and fast when all is well.
func requireSame(t require.TestingT, want, got []pair) {
	if !slices.Equal(want, got) {
		require.Equal(t, want, got)
	}
}

func lent(resources iter.Seq[resource.Resource]) []pair {
	return values(resource.List{Items: slices.Collect(resources)})
}

// Words that ids and values are made of: with much and with nothing in common, with zero bytes, of several lines, and
// not of UTF-8.
var (
	idParts     = []string{"a", "b", "c", "-", "1", "2", "machine-", "ab", "\n", "\xff", "\x00", "é"}
	labelKeys   = []string{"colour", "size", "n"}
	labelValues = []string{"", "red", "blue", "re", "1", "2", "10", "1k", "\x00", "\x00\x01", "\x00\xff", "1\x00", "x"}
	expressions = []string{
		"", "^", "a", "^a", "^(a|b)", "^ab-?c", "^a$", "^(a|b|machine-)-", "^machine-", "^machine-1$", "(?i)^A", "(?m)^a", "^a|b",
		"^a|^b", "^[a-c]1", "^[^a]", "^.b", "^a*b", "^a+", "^(ab){1,2}", "^a+?", "^$", "^\\bab", "^\\x{FFFD}", "a$", "^(1|12|2)", "^é",
		"^(?:ab|abc|b)$", "^a{0}b", "$^", "^^a", "^a$b", "^(?:a|^b)", "^(?:a?)(?:b?)c", "^00[0-9]5$", "^0(1|2)",
	}
)

func someOptions(t *rapid.T) state.ListOptions {
	var opts state.ListOptions

	if rapid.Bool().Draw(t, "by id") {
		compile := rapid.SampledFrom([]func(string) (*regexp.Regexp, error){regexp.Compile, regexp.CompilePOSIX}).Draw(t, "syntax")

		if re, err := compile(rapid.SampledFrom(expressions).Draw(t, "expression")); err == nil {
			opts.IDQuery.Regexp = re
		}
	}

	term := rapid.Custom(func(t *rapid.T) resource.LabelTerm {
		return resource.LabelTerm{
			Key:    rapid.SampledFrom(labelKeys).Draw(t, "key"),
			Op:     resource.LabelOp(rapid.IntRange(int(resource.LabelOpExists), int(resource.LabelOpLTENumeric)).Draw(t, "op")),
			Value:  rapid.SliceOfN(rapid.SampledFrom(labelValues), 0, 3).Draw(t, "value"),
			Invert: rapid.Bool().Draw(t, "invert"),
		}
	})

	for _, terms := range rapid.SliceOfN(rapid.SliceOfN(term, 0, 2), 0, 3).Draw(t, "queries") {
		opts.LabelQueries = append(opts.LabelQueries, resource.LabelQuery{Terms: terms})
	}

	return opts
}

// someResource draws a resource with any labels.
func someResource(t *rapid.T) *conformance.IntResource {
	id := strings.Join(rapid.SliceOfN(rapid.SampledFrom(idParts), 1, 4).Draw(t, "id"), "")
	res := number(id, rapid.IntRange(0, 99).Draw(t, "number"))

	for _, key := range labelKeys {
		if rapid.Bool().Draw(t, "has "+key) {
			res.Metadata().Labels().Set(key, rapid.SampledFrom(labelValues).Draw(t, key))
		}
	}

	return res
}

// many is so many resources that indexes are built, few of which have any one value.
const many = 400

var manyResources = sync.OnceValue(func() model {
	var m model

	for i := range many {
		res := number(fmt.Sprintf("%04d", i), i)

		if i%20 == 0 {
			res.Metadata().Labels().Set(labelKeys[i/20%len(labelKeys)], labelValues[i/20%len(labelValues)])
		}

		m.put(res)
	}

	return m
})

// checkMatches draws changes and queries, and compares each answer with that of a plain scan.
func checkMatches(t *rapid.T) {
	type taken struct {
		view  cache.View
		model model
	}

	var (
		work  = slices.Clone(manyResources())
		c     = started(work...)
		views = []taken{{view(t, c), slices.Clone(work)}}
	)

	some := func(t *rapid.T) taken { return views[rapid.IntRange(0, len(views)-1).Draw(t, "view")] }

	t.Repeat(map[string]func(*rapid.T){
		"put": func(t *rapid.T) {
			res := someResource(t)

			c.Put(res)
			work.put(res)
		},
		"delete": func(t *rapid.T) {
			id := work[rapid.IntRange(0, len(work)-1).Draw(t, "gone")].Metadata().ID()

			c.Delete(id)
			work.delete(id)
		},
		"publish": func(*rapid.T) {
			c.Publish()

			views = append(views, taken{view(t, c), slices.Clone(work)})
		},
		"patch": func(t *rapid.T) {
			patched := some(t)
			patched.model = slices.Clone(patched.model)

			var patches []cache.Patch

			for range rapid.IntRange(1, 4).Draw(t, "patches") {
				res := someResource(t)

				if rapid.Bool().Draw(t, "known id") {
					res = labelled(fmt.Sprintf("%04d", rapid.IntRange(0, many-1).Draw(t, "known")), 7, "colour", "red")
				}

				if id := res.Metadata().ID(); rapid.Bool().Draw(t, "hidden") {
					patches = append(patches, cache.Patch{ID: id})
					patched.model.delete(id)
				} else {
					patches = append(patches, cache.Patch{ID: id, Resource: res})
					patched.model.put(res)
				}
			}

			patched.view = patched.view.With(patches...)
			views = append(views, patched)
		},
		"query": func(t *rapid.T) {
			v := views[len(views)-1]
			if rapid.IntRange(0, 3).Draw(t, "an older view") == 0 {
				v = some(t)
			}

			for range 5 {
				opts := someOptions(t)
				want := v.model.scan(opts)

				requireSame(t, want, values(v.view.List(opts)))
				requireSame(t, want, lent(v.view.Match(opts)))
			}
		},
		"prefix": func(t *rapid.T) {
			v := some(t)
			prefix := strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(idParts, "0")), 0, 3).Draw(t, "prefix"), "")
			want := slices.DeleteFunc(v.model.scan(state.ListOptions{}), func(p pair) bool { return !strings.HasPrefix(p.id, prefix) })

			requireSame(t, want, lent(v.view.Prefix(prefix)))
		},
		"all": func(t *rapid.T) {
			v := some(t)

			requireSame(t, v.model.scan(state.ListOptions{}), lent(v.view.All()))
			require.Equal(t, len(v.model), v.view.Len())
		},
	})
}

// Whatever is asked for, and however it is found, the answer is that of a plain scan, of any view at any time.
func TestMatchIsThePlainScan(t *testing.T) {
	t.Parallel()

	rapid.Check(t, checkMatches)
}

func FuzzMatchIsThePlainScan(f *testing.F) {
	f.Add([]byte("seed"))
	f.Fuzz(rapid.MakeFuzz(checkMatches))
}

// A loop may end early, whatever it walks.
func TestLoopsStop(t *testing.T) {
	t.Parallel()

	c := started()

	for i := range 1_000 {
		c.Put(labelled(fmt.Sprintf("%04d", i), i, "group", fmt.Sprint(i/10)))
	}

	c.Publish()

	byLabel, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("group", "50"))})
	byID, _ := cache.ServesList([]state.ListOption{state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^(05|07)")))})
	patched := view(t, c).With(cache.Patch{ID: "0", Resource: number("0", 0)}, cache.Patch{ID: "05000", Resource: labelled("05000", 1, "group", "50")})

	for name, resources := range map[string]iter.Seq[resource.Resource]{
		"all":             view(t, c).All(),
		"prefix":          view(t, c).Prefix("0"),
		"label":           view(t, c).Match(byLabel),
		"ids":             view(t, c).Match(byID),
		"patched":         patched.All(),
		"patched, prefix": patched.Prefix("05"),
		"patched, label":  patched.Match(byLabel),
	} {
		all := slices.Collect(resources)
		require.NotEmpty(t, all, name)
		require.True(t, slices.IsSortedFunc(all, func(a, b resource.Resource) int { return cmp.Compare(a.Metadata().ID(), b.Metadata().ID()) }), name)

		for _, n := range []int{0, 1, len(all) / 2, len(all) - 1} {
			if n >= len(all) {
				continue
			}

			var some []resource.Resource

			for res := range resources {
				if some = append(some, res); len(some) > n {
					break
				}
			}

			require.Equal(t, all[:n+1], some, name)
		}
	}
}
