package cache_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/internal/fuzzed"
)

// mostSteps ends runs over long fuzz data.
const mostSteps = 200

// words are the strings that a run is about: any at all.
type words struct{ ids, keys, values []string }

// pickID picks an id of the run, or one of those that a large collection begins with.
func (w words) pickID(b *fuzzed.Bytes) resource.ID {
	if b.Pick(4) == 3 {
		return fmt.Sprintf("%04d", (b.Pick(2)*256+b.Pick(256))%(many+10))
	}

	return fuzzed.One(b, w.ids)
}

func (w words) pickResource(b *fuzzed.Bytes, value int) *conformance.IntResource {
	res := number(w.pickID(b), value)

	for range b.Pick(4) {
		res.Metadata().Labels().Set(fuzzed.One(b, w.keys), fuzzed.One(b, w.values))
	}

	if b.Pick(8) == 7 {
		res.Metadata().SetPhase(resource.PhaseTearingDown)
	}

	return res
}

// pickExpression picks what ids are matched by: nothing, if the strings of the run make no expression.
func (w words) pickExpression(b *fuzzed.Bytes) *regexp.Regexp {
	one, other := regexp.QuoteMeta(fuzzed.One(b, w.ids)), regexp.QuoteMeta(fuzzed.One(b, w.ids))
	compile := fuzzed.One(b, []func(string) (*regexp.Regexp, error){regexp.Compile, regexp.Compile, regexp.CompilePOSIX})

	expression, err := compile(fuzzed.One(b, []string{
		"^" + one, "^" + one + "$", one, one + "$", "^(" + one + "|" + other + ")", "^(" + one + "|" + other + ")$", "(?i)^" + one,
		"(?m)^" + one + "$", "(?s)^.*" + one, "^" + one + ".?" + other, "^" + one + "+", "^" + one + "*?" + other, "^(" + one + "){1,2}",
		"^0[0-3]" + one, fuzzed.One(b, w.ids), fuzzed.One(b, w.values),
	}))
	if err != nil {
		return nil
	}

	return expression
}

func (w words) pickOptions(b *fuzzed.Bytes) (opts state.ListOptions) {
	if b.Pick(2) == 1 {
		opts.IDQuery.Regexp = w.pickExpression(b)
	}

	for range b.Pick(3) {
		var query resource.LabelQuery

		for range b.Pick(3) {
			term := resource.LabelTerm{
				Key:    fuzzed.One(b, w.keys),
				Op:     resource.LabelOp(b.Pick(int(resource.LabelOpLTENumeric) + 1)),
				Invert: b.Pick(4) == 3,
			}

			for range b.Pick(4) {
				term.Value = append(term.Value, fuzzed.One(b, w.values))
			}

			query.Terms = append(query.Terms, term)
		}

		opts.LabelQueries = append(opts.LabelQueries, query)
	}

	return opts
}

// shown is a view with what it has to show.
type shown struct {
	view  cache.View
	model model
}

func (s shown) get(t *testing.T, id resource.ID) {
	at, there := s.model.find(id)
	res, err := s.view.Get(id)
	lent, ok := s.view.Lend(id)

	require.Equal(t, there, ok)

	if !there {
		require.True(t, state.IsNotFoundError(err))

		return
	}

	require.NoError(t, err)
	require.True(t, resource.Equal(s.model[at], res))
	require.True(t, resource.Equal(s.model[at], lent))
}

func (s shown) list(t *testing.T, opts state.ListOptions) {
	want := s.model.scan(opts)

	requireSame(t, want, values(s.view.List(opts)))
	requireSame(t, want, lent(s.view.Match(opts)))
}

func (s shown) prefix(t *testing.T, prefix string) {
	want := slices.DeleteFunc(s.model.scan(state.ListOptions{}), func(p pair) bool { return !strings.HasPrefix(p.id, prefix) })

	requireSame(t, want, lent(s.view.Prefix(prefix)))
}

// Whatever ids, labels, values and expressions are made of, what is read of the newest contents, of older ones, and of those
// with something put over them, is what a plain scan finds.
func FuzzContents(f *testing.F) {
	f.Add([]byte("\x03abcdefgh\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Add([]byte("put some of them, with labels and without, publish, look for them by what they are called and how they are labelled"))
	f.Add([]byte("\x04\x81\x82\x83\x84\x04\x81\x8a\x9a\x04\xff\x85\x86\x01\x00\x01\x02\x01\x02\x03\x01\x02\x02\x03\x03\x00\x01\x04\x01\x01\x05"))
	f.Add([]byte("\x00\xa1\x00\xa1\x00\x8e\x01" + // a label that looks like the end of one, of many resources
		"\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00" + "\x00\x05\x00\x00" + "\x00\x08\x00\x01\x01\x00\x01\x00\x01\x00\x00\x00"))
	f.Add([]byte("\x07\xfd\x04aaaa\xe1\x00\x01b\xe1\x00\x02cd\xe1\x00\x01\x00\x01\x01\x00\x00\x00\x01\x00\x02\x00\x03\x02\x04\x04\x05\x06"))

	f.Add([]byte("X\xff\xff\x00\x000000000070000\t\t\tA")) // an expression of a million characters

	f.Fuzz(func(t *testing.T, data []byte) {
		b := fuzzed.From(data)
		w := words{ids: b.Texts(12), keys: b.Texts(4), values: b.Texts(8)}

		var work model
		if b.Pick(2) == 1 {
			work = slices.Clone(manyResources()) // so many that labels are indexed
		}

		c := started(work...)
		views := []shown{{view(t, c), slices.Clone(work)}}

		for step := 0; b.More() && step < mostSteps; step++ {
			s := views[len(views)-1]
			if b.Pick(4) == 3 {
				s = fuzzed.One(b, views)
			}

			switch b.Pick(12) {
			case 0, 1, 2, 3:
				res := w.pickResource(b, step)

				c.Put(res)
				work.put(res)
			case 4:
				id := w.pickID(b)

				c.Delete(id)
				work.delete(id)
			case 5, 6:
				c.Publish(w.ids...)

				views = append(views, shown{view(t, c), slices.Clone(work)})
			case 7:
				over := shown{s.view, slices.Clone(s.model)}
				patches := make([]cache.Patch, b.Pick(4))

				for i := range patches {
					res := w.pickResource(b, step)
					patches[i].ID = res.Metadata().ID()

					if b.Pick(3) == 2 {
						over.model.delete(patches[i].ID)
					} else {
						patches[i].Resource = res
						over.model.put(res)
					}
				}

				over.view = over.view.With(patches...)
				views = append(views, over)
			case 8, 9, 10:
				s.list(t, w.pickOptions(b))
			case 11:
				s.prefix(t, fuzzed.One(b, w.ids))
			}

			s.get(t, w.pickID(b))
		}

		require.Equal(t, len(work), countOf(c))

		for _, s := range views {
			s.list(t, state.ListOptions{})
			require.Equal(t, len(s.model), s.view.Len())

			for _, id := range w.ids {
				s.get(t, id)
			}
		}
	})
}

// countOf counts what the writer sees.
func countOf(c *cache.Collection) (n int) {
	for range c.All() {
		n++
	}

	return n
}
