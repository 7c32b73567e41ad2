package queue

const (
	// A segment begins with smallest cells, and is split instead of growing beyond largest.
	smallest = 8
	largest  = 512

	// A directory does not grow beyond an entry for that many elements. With good hashes it does not come near. With poor
	// ones, splitting would not help, and their segment grows.
	thinnest = 32
)

// index finds entries by the hash of their key. It is a hash table in segments: the first bits of a hash name the
// segment, the last ones the cell at which to begin to look in it. A segment that is full is split in two, so the table
// grows by a little at a time however large it is. It never shrinks: whoever owns it makes a new one.
//
// Cells hold no pointers and are small, because in a large table most of the time goes into waiting for memory. The zero
// value is empty.
type index struct {
	// directory names the segment for each value of the first depth bits. A segment that is told apart by fewer bits is in
	// it several times.
	directory []*segment
	depth     uint8
	count     int
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

func cellOf(hash uint32, r ref) cell { return cell(hash)<<32 | cell(r) }

func (c cell) hash() uint32 { return uint32(c >> 32) }
func (c cell) ref() ref     { return ref(c) }

// segment returns where the hash is if it is anywhere, nil if there is no segment yet.
func (x *index) segment(hash uint32) *segment {
	if x.directory == nil {
		return nil
	}

	return x.directory[hash>>(32-x.depth)]
}

// add enters an entry that is not in the index.
func (x *index) add(hash uint32, r ref) {
	if x.directory == nil {
		x.directory = []*segment{{cells: make([]cell, smallest)}}
	}

	s := x.segment(hash)

	for s.full() {
		if len(s.cells) < largest || s.depth == x.depth && thinnest*len(x.directory) > x.count {
			s.grow()

			continue
		}

		x.split(s, hash)

		s = x.segment(hash)
	}

	s.add(cellOf(hash, r))
	x.count++
}

// remove takes out an entry that is in the index.
func (x *index) remove(hash uint32, r ref) {
	x.segment(hash).remove(cellOf(hash, r))
	x.count--
}

// split replaces the segment that the hash is in by two that are told apart by one bit more.
func (x *index) split(s *segment, hash uint32) {
	if s.depth == x.depth {
		directory := make([]*segment, 2*len(x.directory))
		for i := range directory {
			directory[i] = x.directory[i/2]
		}

		x.directory = directory
		x.depth++
	}

	var halves [2]*segment
	for i := range halves {
		halves[i] = &segment{cells: make([]cell, len(s.cells)), depth: s.depth + 1}
	}

	for _, c := range s.cells {
		if c != 0 {
			halves[c.hash()>>(31-s.depth)&1].add(c)
		}
	}

	span := 1 << (x.depth - s.depth)
	first := int(hash>>(32-x.depth)) &^ (span - 1)

	for i := range span {
		x.directory[first+i] = halves[2*i/span]
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
