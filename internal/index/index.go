// Package index finds numbered entries by the hash of their key. It owns a hash table that grows by a little at a time,
// and knows nothing of the entries themselves. It starts no goroutine.
package index

const (
	// A segment begins with smallest cells, and is split instead of growing beyond largest.
	smallest = 8
	largest  = 512

	// A directory does not grow beyond an entry for that many elements. With good hashes it does not come near. With poor
	// ones, splitting would not help, and their segment grows.
	thinnest = 32

	// farthest is the number of segments from which on an index is not in the processor's cache.
	farthest = 64
)

// Ref names an entry. It is half as large as a pointer, and the collector need not follow it. The zero value names none.
type Ref uint32

// Index is a hash table in segments: the first bits of a hash name the segment, the last ones the cell at which to begin to
// look in it. A segment that is full is split in two, so the table grows by a little at a time however large it is. It never
// shrinks: whoever owns it makes a new one. It is not safe for concurrent use.
//
// Cells hold no pointers and are small, because in a large table most of the time goes into waiting for memory. The zero
// value is empty.
type Index struct {
	// directory names the segment for each value of the first depth bits. A segment that is told apart by fewer bits is in
	// it several times.
	directory []*segment
	count     uint32
	depth     uint8
}

// segment is a part of an index, with open addressing: an entry is in the first cell that was free from the one on at
// which one begins to look for its hash, and there is none free in between.
type segment struct {
	cells []cell
	used  int
	// depth is how many of the first bits of a hash all that are in the segment have in common.
	depth uint8
}

// cell is a hash and an entry, or zero.
type cell uint64

func cellOf(hash uint32, r Ref) cell { return cell(hash)<<32 | cell(r) }

func (c cell) hash() uint32 { return uint32(c >> 32) }
func (c cell) ref() Ref     { return Ref(c) }

// Find returns the entry with the hash which is the one that is looked for, or none.
func (x *Index) Find(hash uint32, is func(Ref) bool) Ref {
	s := x.segment(hash)
	if s == nil {
		return 0
	}

	for at := s.home(hash); s.cells[at] != 0; at = s.next(at) {
		if c := s.cells[at]; c.hash() == hash && is(c.ref()) {
			return c.ref()
		}
	}

	return 0
}

// Far tells whether it is worth while to touch hashes some time before they are looked for. A large index is not in the
// processor's cache, so each look-up waits for memory, which takes longer than all the rest. For hashes that are touched one
// right after the other, it waits once.
func (x *Index) Far() bool { return len(x.directory) >= farthest }

// Touch reads where a hash will be looked for. What it returns is of use only for being used, so that the read is not left
// out.
func (x *Index) Touch(hash uint32) uint32 {
	s := x.segment(hash)
	if s == nil {
		return 0
	}

	return uint32(s.cells[s.home(hash)])
}

// segment returns where the hash is if it is anywhere, nil if there is no segment yet.
func (x *Index) segment(hash uint32) *segment {
	if x.directory == nil {
		return nil
	}

	return x.directory[hash>>(32-x.depth)]
}

// Add enters an entry that is not in the index.
func (x *Index) Add(hash uint32, r Ref) {
	if x.directory == nil {
		x.directory = []*segment{{cells: make([]cell, smallest)}}
	}

	s := x.segment(hash)

	for s.full() {
		if len(s.cells) < largest || s.depth == x.depth && thinnest*len(x.directory) > int(x.count) {
			s.grow()

			continue
		}

		x.split(s, hash)

		s = x.segment(hash)
	}

	s.add(cellOf(hash, r))
	x.count++
}

// Remove takes out an entry that is in the index.
func (x *Index) Remove(hash uint32, r Ref) {
	x.segment(hash).remove(cellOf(hash, r))
	x.count--
}

// split moves half of the segment that the hash is in to a new one. Both are told apart by one bit more.
func (x *Index) split(s *segment, hash uint32) {
	if s.depth == x.depth {
		directory := make([]*segment, 2*len(x.directory))
		for i := range directory {
			directory[i] = x.directory[i/2]
		}

		x.directory = directory
		x.depth++
	}

	s.depth++
	half := &segment{cells: make([]cell, len(s.cells)), depth: s.depth}

	s.each(func(at int, c cell) {
		s.cells[at] = 0
		s.used--

		if c.hash()>>(32-s.depth)&1 == 1 {
			half.add(c)
		} else {
			s.add(c)
		}
	})

	span := 1 << (x.depth - s.depth)
	first := int(hash>>(32-x.depth))&^(2*span-1) + span

	for i := range span {
		x.directory[first+i] = half
	}
}

// each calls visit for every cell that is not free, in an order in which each may be taken out and added again.
func (s *segment) each(visit func(at int, c cell)) {
	free := 0
	for s.cells[free] != 0 {
		free = s.next(free)
	}

	// What is added again comes no later than where it was, seen from a cell that was free before: so it is not visited twice.
	for at := s.next(free); at != free; at = s.next(at) {
		if c := s.cells[at]; c != 0 {
			visit(at, c)
		}
	}
}

// full tells whether there is room for one more, with enough cells left that one need not look long.
func (s *segment) full() bool { return 4*(s.used+1) > 3*len(s.cells) }

func (s *segment) home(hash uint32) int { return int(hash) & (len(s.cells) - 1) }
func (s *segment) next(at int) int      { return (at + 1) & (len(s.cells) - 1) }

func (s *segment) grow() {
	grown := segment{cells: make([]cell, 2*len(s.cells)), depth: s.depth}

	for _, c := range s.cells {
		if c != 0 {
			grown.add(c)
		}
	}

	*s = grown
}

func (s *segment) add(new cell) {
	at := s.home(new.hash())
	for s.cells[at] != 0 {
		at = s.next(at)
	}

	s.cells[at] = new
	s.used++
}

// remove closes the gap with what would not be found beyond it any more.
func (s *segment) remove(old cell) {
	gap := s.home(old.hash())
	for s.cells[gap] != old {
		gap = s.next(gap)
	}

	mask := len(s.cells) - 1

	for at := s.next(gap); s.cells[at] != 0; at = s.next(at) {
		if fromHome := (at - s.home(s.cells[at].hash())) & mask; fromHome >= (at-gap)&mask {
			s.cells[gap] = s.cells[at]
			gap = at
		}
	}

	s.cells[gap] = 0
	s.used--
}
