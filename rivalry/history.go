package rivalry

import (
	"cmp"
	"slices"
)

const (
	// mostFields is how many fields of a resource are followed, and named, at most.
	mostFields = 16
	// remembered is how many values of a field are remembered.
	remembered = 8
	// mostEarly is how many writes are kept until those that were made before them are told of, or somebody else has made these.
	mostEarly = 4
	// muchLater is how many versions later one must be so that the earlier one is of a later life.
	muchLater = 16
	// mostRivals is how many controllers are named at most.
	mostRivals = 16
)

// history is what several controllers have written to one resource lately.
type history struct {
	known  bool // last are the contents that were there last
	last   contents
	fields []field

	// early are writes that came before one that was made earlier, in order of version. Who writes tells of it when the call
	// has returned, so of two who write at the same time the second one may be first.
	early []written
	// muddled tells that lives of the resource were mixed up in that way, so that something undone may not have been seen.
	muddled bool

	// undone counts the writes that have undone something, and vain the others.
	undone, vain int
	// rivals are who has undone something, or had something undone, in the order in which they did so first. The slice is
	// shared: it is replaced, and not changed.
	rivals []*Writer
}

// written is what a controller has made of a resource.
type written struct {
	by  *Writer
	now contents
}

// field is one that has changed.
type field struct {
	path string
	// values are those it had lately, each once, the present one at the end.
	values []uint64
	// writer is who has changed it last.
	writer *Writer
	// contested tells that such a change was undone.
	contested bool
}

// write is told what a controller has made of the resource.
func (h *history) write(w written) {
	switch version := w.now.version; {
	case !h.known:
		h.known, h.last = true, w.now
	case w.now.gone || version == 1:
		h.settle()
		h.muddled = h.muddled || w.now.gone == h.last.gone
		h.apply(w)
	case version+muchLater < h.last.version:
		h.settle() // somebody else has created it anew
		h.apply(w)
	case version <= h.last.version:
		h.vain++ // it comes too late
	default:
		at, _ := slices.BinarySearchFunc(h.early, version, func(e written, version uint64) int { return cmp.Compare(e.now.version, version) })
		h.early = slices.Insert(h.early, at, w)
	}

	for len(h.early) > 0 && (h.early[0].now.version == h.last.version+1 || len(h.early) > mostEarly) {
		h.next()
	}
}

// settle takes into account what has come early: what was to come before it will not.
func (h *history) settle() {
	for len(h.early) > 0 {
		h.next()
	}
}

func (h *history) next() {
	h.apply(h.early[0])
	h.early = slices.Delete(h.early, 0, 1)
}

// apply takes a write into account.
func (h *history) apply(w written) {
	if w.now.gone {
		w.now.leaves = h.last.leaves // what it had is not what has changed
	}

	changes := h.last.until(w.now)
	h.last = w.now
	undone := false

	for _, c := range changes {
		f := h.field(c)
		if f == nil {
			continue
		}

		other := f.writer

		if f.change(w.by, c.to) {
			undone = true

			h.rival(other)
			h.rival(w.by)
		}
	}

	if undone {
		h.undone++
	} else {
		h.vain++
	}
}

// field returns the field that has changed, or nil if there are too many.
func (h *history) field(c change) *field {
	at := slices.IndexFunc(h.fields, func(f field) bool { return f.path == c.path })

	if at < 0 {
		if len(h.fields) == mostFields {
			return nil
		}

		at = len(h.fields)
		h.fields = append(h.fields, field{path: c.path, values: []uint64{c.from}})
	}

	return &h.fields[at]
}

// change notes that a controller has changed the field, and tells whether it has undone what another one has done.
func (f *field) change(by *Writer, to uint64) (undone bool) {
	at := slices.Index(f.values, to)
	undone = at >= 0 && f.writer != nil && f.writer != by

	switch {
	case at >= 0:
		f.values = slices.Delete(f.values, at, at+1)
	case len(f.values) == remembered:
		f.values = slices.Delete(f.values, 0, 1)
	}

	f.values = append(f.values, to)
	f.writer = by
	f.contested = f.contested || undone

	return undone
}

func (h *history) has(w *Writer) bool { return slices.Contains(h.rivals, w) }

func (h *history) rival(w *Writer) {
	if len(h.rivals) < mostRivals && !h.has(w) {
		h.rivals = append(slices.Clip(h.rivals), w)
	}
}

// without takes a controller that has gone out of the history.
func (h *history) without(name string) {
	h.rivals = slices.DeleteFunc(slices.Clone(h.rivals), func(w *Writer) bool { return w.name == name })

	for i := range h.fields {
		if w := h.fields[i].writer; w != nil && w.name == name {
			h.fields[i].writer = nil
		}
	}
}

// contested returns the paths of the fields that go back and forth, in order.
func (h *history) contested() (paths []string) {
	for i := range h.fields {
		if h.fields[i].contested {
			paths = append(paths, h.fields[i].path)
		}
	}

	slices.Sort(paths)

	return paths
}

// names returns the names of the rivals, in order.
func (h *history) names() []string {
	names := make([]string, len(h.rivals))
	for i, w := range h.rivals {
		names[i] = w.name
	}

	slices.Sort(names)

	return names
}
