package origin

import (
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/reduced"
)

// mostRuns is how many runs of versions a note holds at most; with more it is cleared.
const mostRuns = 8

// note is what a controller writes to one resource.
type note struct {
	// open counts the writes under way, expected are the versions that they are about to make, and ending counts those that
	// are about to destroy it.
	open     int
	expected []uint64
	ending   int
	// made is what was written and not judged yet.
	made made
	// held is a change of which it is not known yet whether a write under way has made it, or nil.
	held *heldChange

	// oneExpected and oneRun are what mostly is enough for expected and made, so that a note is one piece of memory.
	oneExpected [1]uint64
	oneRun      [1]run
}

func newNote() *note {
	n := &note{}
	n.expected, n.made.runs = n.oneExpected[:0], n.oneRun[:0]

	return n
}

type heldChange struct {
	md   reduced.Metadata
	kind controller.InputKind
	// long tells that it, or what was merged into it, was held already when that was looked for last.
	long bool
}

// undecided tells whether a write under way may turn out to have made the change, or a part of it.
func (n *note) undecided(md *reduced.Metadata) bool {
	return n.open > 0 && !n.made.covers(md, nil, 0) && n.made.covers(md, n.expected, n.ending)
}

// saw judges a change, and drops what that was for. After somebody else's, nothing is certain any more.
func (n *note) saw(md *reduced.Metadata) (own bool) {
	own = n.made.covers(md, nil, 0)

	if own {
		n.made.drop(md)
	} else {
		n.made.clear()
	}

	return own
}

// made are the versions that were made, in runs, and how often the resource was destroyed.
type made struct {
	runs  []run
	gone  int
	total int // of both
}

// run is the versions from first to last.
type run struct{ first, last uint64 }

func (m *made) empty() bool { return m.total == 0 }

func (m *made) clear() { m.runs, m.gone, m.total = m.runs[:0], 0, 0 }

// add notes a version.
func (m *made) add(version uint64) {
	m.total++

	for i := range m.runs {
		switch r := &m.runs[i]; version {
		case r.last + 1:
			r.last++

			return
		case r.first - 1:
			r.first--

			return
		}
	}

	if len(m.runs) == mostRuns {
		m.clear()

		return
	}

	m.runs = append(m.runs, run{version, version})
}

// end notes that the resource was destroyed.
func (m *made) end() {
	m.gone++
	m.total++
}

// covers tells whether all events of a change are among what was made, and what is about to be: versions, and so many
// ends.
func (m *made) covers(md *reduced.Metadata, expected []uint64, ending int) bool {
	causes := md.Causes()
	events := uint64(causes.Events)

	switch {
	case md.Missed():
		return false
	case !md.SawDestroy():
		return md.Version()-causes.FirstVersion == events-1 && m.contains(causes.FirstVersion, md.Version(), expected)
	case md.Destroyed() && events == 1:
		return m.gone+ending > 0
	case md.Destroyed() && md.Version()-causes.FirstVersion == events-2:
		return m.gone+ending > 0 && m.contains(causes.FirstVersion, md.Version(), expected)
	default:
		// It was created again. Only if there is nothing else that it can be, it is all of what was made.
		return uint64(m.total+len(expected)+ending) == events && m.gone+ending > 0 &&
			(md.Destroyed() || m.contains(1, md.Version(), expected))
	}
}

// contains tells whether all versions from first to last are among what was made or is expected.
func (m *made) contains(first, last uint64, expected []uint64) bool {
	for next := first; next <= last; {
		at := slices.IndexFunc(m.runs, func(r run) bool { return r.first <= next && next <= r.last })

		switch {
		case at >= 0:
			next = m.runs[at].last + 1
		case slices.Contains(expected, next):
			next++
		default:
			return false
		}
	}

	return true
}

// drop takes out what an own change has shown.
func (m *made) drop(md *reduced.Metadata) {
	causes := md.Causes()

	switch {
	case !md.SawDestroy():
		m.take(causes.FirstVersion, md.Version())
	case md.Destroyed() && causes.Events == 1:
		m.gone--
		m.total--
	case md.Destroyed() && md.Version()-causes.FirstVersion == uint64(causes.Events)-2:
		m.gone--
		m.total--
		m.take(causes.FirstVersion, md.Version())
	default:
		m.clear()
	}
}

// take takes out the versions from first to last.
func (m *made) take(first, last uint64) {
	for next := first; next <= last; {
		at := slices.IndexFunc(m.runs, func(r run) bool { return r.first <= next && next <= r.last })
		if at < 0 {
			return
		}

		r := m.runs[at]
		end := min(r.last, last)
		m.total -= int(end - next + 1)
		m.runs = slices.Delete(m.runs, at, at+1)

		if r.first < next {
			m.runs = append(m.runs, run{r.first, next - 1})
		}

		if end < r.last {
			m.runs = append(m.runs, run{end + 1, r.last})
		}

		next = end + 1
	}
}
