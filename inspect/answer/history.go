package answer

import (
	"cmp"
	"slices"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
)

// made tells what was made of a resource from all else that was. Versions begin again with each life of an id, and that one has ended
// comes at the version that it ended in.
type made struct {
	version uint64
	life    int64
	ended   bool
}

// entry is a version in a history, and the life that it is of; 0 is not known.
type entry struct {
	api.Version

	life int64
}

// history is the versions of a resource that passes are remembered to have made, or to have been told of, the latest first.
func history(book *cause.Book, ref api.Ref) []api.Version {
	key := keyOf(ref)
	known := map[made]bool{}

	var all []entry

	for _, p := range book.WrittenBy(key.Pointer()) {
		for i := range p.Writes {
			w := &p.Writes[i]
			if w.Resource != key {
				continue
			}

			by := passRef(p)
			known[made{w.Version, w.Life, false}] = true
			all = append(all, entry{api.Version{Version: w.Version, Verb: w.Verb, By: &by, At: p.Began}, w.Life})
		}
	}

	for _, name := range book.Controllers() {
		told := book.Passes(name)

		for i := range told {
			all = append(all, seen(book, &told[i], ref, known)...)
		}
	}

	return inOrderOfVersions(all)
}

// seen is what a pass was told of, and nobody who is known has made.
func seen(book *cause.Book, p *cause.Pass, ref api.Ref, known map[made]bool) (all []entry) {
	for i := range p.Causes {
		c := &p.Causes[i]
		m := made{c.To, c.Life, c.Changed&reduced.ChangeDestroyed != 0}

		if c.Resource != keyOf(ref) || known[m] || known[made{c.To, 0, m.ended}] {
			continue
		}

		if w := book.Writers(p, c); w.Others > 0 {
			known[m] = true
			by := passRef(p)
			all = append(all, entry{api.Version{Version: c.To, Verb: c.Changed.String(), SeenBy: &by, Forgotten: w.Forgotten, At: p.Began}, c.Life})
		}
	}

	return all
}

// inOrderOfVersions brings versions into order, the latest first: a pass may have made one long after it began. Where a version or
// the life that it is of is not known, it has its place by time.
func inOrderOfVersions(all []entry) []api.Version {
	slices.SortStableFunc(all, func(a, b entry) int { return b.At.Compare(a.At) })

	var ordered []entry

	for _, e := range all {
		if e.life != 0 {
			ordered = append(ordered, e)
		}
	}

	slices.SortStableFunc(ordered, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.life, a.life), cmp.Compare(b.Version.Version, a.Version.Version))
	})

	versions := make([]api.Version, 0, len(all))

	for _, e := range all {
		if e.life != 0 {
			continue
		}

		for len(ordered) > 0 && ordered[0].At.After(e.At) {
			versions, ordered = append(versions, ordered[0].Version), ordered[1:]
		}

		versions = append(versions, e.Version)
	}

	for _, e := range ordered {
		versions = append(versions, e.Version)
	}

	return versions
}
