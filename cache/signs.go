package cache

import (
	"math"
	"math/bits"
	"strings"
)

// signs are the keys of a node, in order.
//
// To find a key without looking at those it is compared with, which are all over the memory, the head of each is kept:
// the bytes after those that all keys of the range begin with. Only where heads are equal, and not all of the rest, keys
// are compared. The heads lie in the node itself, where they are as soon as it is.
type signs struct {
	// n is the number of entries.
	n uint16
	// skip is how many bytes all keys of the range have in common, or fewer.
	skip uint16
	// heads are followed by none, which is smaller than no head.
	heads [width]uint64
	keys  *keys
}

// keys are those of the values, or where the range of each of the nodes below begins. The first of an inner node is
// where its own begins, and is not looked at: the first of all has no beginning.
//
// They are apart from their node because most changes of it leave them as they are: they then are not copied.
type keys struct {
	// made is the generation in which they were made, and may be changed in place if their node was born in it.
	made uint64
	of   [width]string
}

// none is the head where there is no entry.
const none = math.MaxUint64

// span is a range of keys: from is in it, to is not and may be empty, which is no end.
type span struct{ from, to string }

// holds tells whether a key that is not before the range is in it.
func (s span) holds(key string) bool { return s.to == "" || key < s.to }

func newSigns(made uint64) signs {
	s := signs{keys: &keys{made: made}}
	s.clear(0)

	return s
}

// clear takes away the entries from one on.
func (s *signs) clear(from int) {
	for i := from; i < width; i++ {
		s.heads[i], s.keys.of[i] = none, ""
	}
}

// head returns up to eight bytes of the key after those to skip, such that heads are in order as keys are.
func head(key string, skip uint16) uint64 {
	rest := len(key) - int(skip)

	switch {
	case rest >= 8:
		return eight(key[skip:])
	case rest <= 0:
		return 0
	case len(key) >= 8:
		// What stands before the rest is shifted out, which takes no loop.
		return eight(key[len(key)-8:]) << (64 - 8*rest)
	}

	h := uint64(0)

	for i := range rest {
		h |= uint64(key[int(skip)+i]) << (56 - 8*i)
	}

	return h
}

// eight returns the first eight bytes.
func eight(key string) uint64 {
	_ = key[7]

	return uint64(key[7]) | uint64(key[6])<<8 | uint64(key[5])<<16 | uint64(key[4])<<24 |
		uint64(key[3])<<32 | uint64(key[2])<<40 | uint64(key[1])<<48 | uint64(key[0])<<56
}

// find returns where the key is among those from the first on, or belongs.
//
// It counts smaller heads instead of searching for the place: that takes no branch that a processor guesses wrong, and
// asks for all heads at once where they have to be fetched.
func (s *signs) find(key string, first int) (at int, there bool) {
	h, n := head(key, s.skip), int(s.n)

	if n > first && s.heads[n-1] < h {
		return n, false // as it is for all that comes in order
	}

	below := uint64(0)

	for i := range s.heads {
		_, smaller := bits.Sub64(s.heads[i], h, 0)
		below += smaller
	}

	at = max(int(below), first)

	if at >= n || s.heads[at] != h {
		return at, false
	}

	return s.among(key, h, at)
}

// among is find where the heads do not tell: the entry has the same head, those before it a smaller one.
func (s *signs) among(key string, h uint64, at int) (_ int, there bool) {
	low, high := at, int(s.n)

	for low < high {
		mid := int(uint(low+high) / 2)

		order := -1
		if s.heads[mid] == h {
			order = s.compare(key, mid)
		}

		switch {
		case order == 0:
			return mid, true
		case order > 0:
			low = mid + 1
		default:
			high = mid
		}
	}

	return low, false
}

// compare returns the order of a key of the range and an entry with the same head. What is skipped, all keys of the range
// have in common: so where the head is all of the rest, the entry need not be fetched.
func (s *signs) compare(key string, at int) int {
	entry := s.keys.of[at]

	if whole := int(s.skip) + 8; len(key) > whole || len(entry) > whole {
		return strings.Compare(key, entry)
	}

	return len(key) - len(entry)
}

// child returns which of the nodes below has the key in its range.
func (s *signs) child(key string) int {
	at, there := s.find(key, 1)
	if there {
		return at
	}

	return at - 1
}

// below returns the range of a node below one with the range.
func (s *signs) below(i int, in span) span {
	if i > 0 {
		in.from = s.keys.of[i]
	}

	if i+1 < int(s.n) {
		in.to = s.keys.of[i+1]
	}

	return in
}

// ranged tells the keys their range. They must be such that they may be changed.
func (s *signs) ranged(in span) {
	s.skip = 0

	if in.from != "" && in.to != "" {
		s.skip = common(in.from, in.to)
	}

	for i := range s.n {
		s.heads[i] = head(s.keys.of[i], s.skip)
	}
}

// common returns how many bytes both begin with, or as many as a node can skip.
func common(a, b string) uint16 {
	const most = 1<<16 - 1

	i := 0
	for i < len(a) && i < len(b) && i < most && a[i] == b[i] {
		i++
	}

	return uint16(i)
}
