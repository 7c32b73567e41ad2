package cache

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

const (
	// few is how many resources are looked at rather than building an index to look at fewer.
	few = 256
	// dear is how many resources can be looked at in order for the cost of one that is looked up by its id.
	dear = 8
	// parsing is how many ids can be matched for the cost of finding out how those begin that a regular expression matches.
	parsing = 32
	// mostValues is how many values of a label are tried for a term that can not be told by their order.
	mostValues = 256
)

// within is the resources whose id is in one of the ranges, which are in order and have nothing in common.
func (c *contents) within(spans []span) source {
	return func(yield each) {
		for _, s := range spans {
			if !c.tree.scan(s, yield) {
				return
			}
		}
	}
}

// among is the resources with the ids, which are in order.
func (c *contents) among(ids []resource.ID) source {
	return func(yield each) {
		for _, id := range ids {
			if res, there := c.tree.get(id); there && !yield(id, res) {
				return
			}
		}
	}
}

// plan returns a source of all resources that match, and of as few others as can be told.
func (v View) plan(opts state.ListOptions) source {
	spans, cost := []span{{}}, v.now.tree.len()

	if re := opts.IDQuery.Regexp; re != nil && cost > parsing && v.now.lined == 0 {
		if narrow, ok := beginnings(re); ok {
			if n := count(v.now.tree, narrow); n < cost {
				spans, cost = narrow, n
			}
		}
	}

	if len(opts.LabelQueries) > 0 && cost >= few {
		if ids, ok := v.labelled(opts.LabelQueries, cost/dear); ok {
			return v.now.among(ids)
		}
	}

	return v.now.within(spans)
}

// count returns the number of keys in ranges that have nothing in common.
func count[V any](f frozen[V], spans []span) int {
	n := 0

	for _, s := range spans {
		n += f.count(s)
	}

	return n
}

// choice is a part of an index that has all resources that match a query.
type choice struct {
	index indexed
	spans []span
	n     int // of resources
}

// labelled returns the ids of all resources that match one of the queries, and of others, in order: not ok if there are
// more than so many, or no indexes for it.
func (v View) labelled(queries resource.LabelQueries, most int) ([]resource.ID, bool) {
	choices, n := make([]choice, 0, len(queries)), 0

	for _, query := range queries {
		c, ok := v.choose(query, most-n)
		if !ok {
			return nil, false
		}

		choices = append(choices, c)
		n += c.n
	}

	ids := make([]resource.ID, 0, n)

	for _, c := range choices {
		c.index.used()

		for _, s := range c.spans {
			c.index.set.scan(s, func(key string, _ struct{}) bool {
				_, id := valueOf(key)
				ids = append(ids, id)

				return true
			})
		}
	}

	slices.Sort(ids)

	return slices.Compact(ids), true
}

// choose returns that part of an index that has the fewest resources, for one of the terms of a query, all of which must
// hold: not ok if there are more than so many. If no index is good enough it has one built.
func (v View) choose(query resource.LabelQuery, most int) (best choice, ok bool) {
	var wanted *resource.LabelTerm

	consider := func(x indexed, term resource.LabelTerm) {
		spans := x.matching(term)

		if n := count(x.set, spans); n <= most && (!ok || n < best.n) {
			best, ok = choice{x, spans, n}, true
		}
	}

	for i, term := range query.Terms {
		if !known(term.Op) {
			return choice{}, false // which the contract panics about, as soon as it is asked
		}

		if !indexable(term, most) {
			continue
		}

		if x, there := v.now.index(term.Key); there {
			consider(x, term)
		} else if wanted == nil || precise(term) && !precise(*wanted) {
			wanted = &query.Terms[i]
		}
	}

	if !ok && wanted != nil {
		if x, there := v.run.indexes.want(wanted.Key, v.now, &v.run.published); there {
			consider(x, *wanted)
		}
	}

	return best, ok
}
