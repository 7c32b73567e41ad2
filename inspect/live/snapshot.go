package live

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// snapshot is what was seen in one look. It does not change.
type snapshot struct {
	// number counts the looks.
	number   uint64
	overview *api.Overview
	rates    *rates
	// changed tells what is different from the look before, as it is sent; nothing if nothing is.
	changed []byte
}

// next returns the snapshot that follows one, which is nil if there was none.
func (s *snapshot) next(o *api.Overview, r *rates) *snapshot {
	n := &snapshot{number: 1, overview: o, rates: r}

	if s != nil {
		n.number = s.number + 1
		n.changed = changeFrom(s, n)
	}

	return n
}

// full is all that is seen, as it is sent: the overview, and the rates as a change.
func (s *snapshot) full() []byte {
	before := &snapshot{overview: s.overview, rates: newRates()}

	return append(message(api.EventOverview, s.overview), changeFrom(before, s)...)
}

// message is an event as it is sent. A document has no line breaks but escaped ones.
func message(event string, document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // documents are plain data
	}

	return slices.Concat([]byte("event: "+event+"\ndata: "), text, []byte("\n\n"))
}

// changeFrom is what is different between two snapshots, as it is sent; nothing if nothing is.
func changeFrom(a, b *snapshot) []byte {
	c, before, after := &api.Change{At: b.overview.At, Running: b.overview.Running, Revision: b.overview.Revision}, a.overview, b.overview
	different := before.Running != after.Running || before.Revision != after.Revision

	if a.overview != b.overview {
		c.Controllers, c.Gone = differences(before.Controllers, after.Controllers, func(c api.Controller) string { return c.Name })
		c.Kinds, c.GoneKinds = differences(before.Kinds, after.Kinds, func(k api.Kind) api.Ref { return api.Ref{Namespace: k.Namespace, Type: k.Type} })
	}

	if !slices.Equal(before.Problems, after.Problems) {
		c.Problems = &after.Problems
	}

	if !slices.EqualFunc(before.Findings, after.Findings, sameFinding) {
		c.Findings = &after.Findings
	}

	for _, of := range changed(a.rates.passes, b.rates.passes, cmp.Compare) {
		c.Passes = append(c.Passes, api.PassRate{Controller: of, PerSecond: b.rates.passes[of]})
	}

	for _, of := range changed(a.rates.wakeups, b.rates.wakeups, inputOf.compare) {
		c.Wakeups = append(c.Wakeups, api.WakeupRate{Controller: of.controller, Input: of.input, PerSecond: b.rates.wakeups[of]})
	}

	for _, of := range changed(a.rates.writes, b.rates.writes, outputOf.compare) {
		c.Writes = append(c.Writes, api.WriteRate{Controller: of.controller, Type: of.typ, PerSecond: b.rates.writes[of]})
	}

	if !different && len(c.Controllers)+len(c.Gone)+len(c.Kinds)+len(c.GoneKinds)+len(c.Passes)+len(c.Wakeups)+len(c.Writes) == 0 &&
		c.Problems == nil && c.Findings == nil {
		return nil
	}

	return message(api.EventChange, c)
}

func sameFinding(a, b api.Finding) bool {
	return a.Severity == b.Severity && a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Controllers, b.Controllers)
}

// differences returns what is new or different in a list, and the keys of what is not in it any more.
func differences[T, K comparable](before, after []T, key func(T) K) (changed []T, gone []K) {
	was := make(map[K]*T, len(before))
	for i := range before {
		was[key(before[i])] = &before[i]
	}

	for i := range after {
		k := key(after[i])

		if old, ok := was[k]; !ok || *old != after[i] {
			changed = append(changed, after[i])
		}

		delete(was, k)
	}

	for i := range before {
		if k := key(before[i]); was[k] != nil {
			gone = append(gone, k)
		}
	}

	return changed, gone
}

// changed returns the keys of the rates that are different, in order.
func changed[K comparable](before, after map[K]float64, compare func(a, b K) int) []K {
	keys := map[K]struct{}{}

	for k, rate := range after {
		if before[k] != rate {
			keys[k] = struct{}{}
		}
	}

	for k := range before {
		if _, ok := after[k]; !ok {
			keys[k] = struct{}{}
		}
	}

	return slices.SortedFunc(maps.Keys(keys), compare)
}

func (a inputOf) compare(b inputOf) int {
	return cmp.Or(cmp.Compare(a.controller, b.controller), a.input.Ref.Compare(b.input.Ref), cmp.Compare(a.input.Kind, b.input.Kind))
}

func (a outputOf) compare(b outputOf) int {
	return cmp.Or(cmp.Compare(a.controller, b.controller), cmp.Compare(a.typ, b.typ))
}
