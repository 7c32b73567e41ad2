package cache

// width is how many entries a node holds at most. It is small because a change copies all nodes above it, once for each
// publication, and such that all parts of nodes of resources fill the sizes in which memory is handed out.
const width = 19

// node is a node of a [tree]: a leaf, which holds values, or an inner node, which holds nodes. All keys of a node are in
// its range, which is from its key in the node above to the next one there.
type node[V any] struct {
	*signs

	// born is the generation of the tree in which the node was made, and may be changed in place.
	born uint64
	// size is the number of values in and below the node.
	size int32
	kids *[width]*node[V] // nil in a leaf
	vals *[width]V        // nil in an inner node
}

// signs are the keys of a node. They are apart from it because most changes of a node leave them as they are: they then
// are not copied.
//
// To find a key without looking at those it is compared with, which are all over the memory, the head of each is kept:
// the bytes after those that all keys of the range begin with. Where heads are equal, keys are compared.
type signs struct {
	// made is the generation in which the signs were made, and may be changed in place if their node was born in it.
	made uint64
	// n is the number of entries.
	n uint16
	// skip is how many bytes all keys of the range have in common, or fewer.
	skip  uint16
	heads [width]uint64
	// keys are those of the values, or where the range of each of the nodes below begins. The first of an inner node is
	// where its own begins, and is not looked at: the first of all has no beginning.
	keys [width]string
}

// span is a range of keys: from is in it, to is not and may be empty, which is no end.
type span struct{ from, to string }

// holds tells whether a key that is not before the range is in it.
func (s span) holds(key string) bool { return s.to == "" || key < s.to }

// A leaf and an inner node are one piece of memory each, with what they point at.
type (
	leaf[V any] struct {
		node[V]

		array [width]V
	}
	inner[V any] struct {
		node[V]

		array [width]*node[V]
	}
)

func newLeaf[V any](born uint64) *node[V] {
	l := &leaf[V]{node: node[V]{born: born, signs: &signs{made: born}}}
	l.vals = &l.array

	return &l.node
}

func newInner[V any](born uint64) *node[V] {
	x := &inner[V]{node: node[V]{born: born, signs: &signs{made: born}}}
	x.kids = &x.array

	return &x.node
}

// own returns the node if it may be changed in the generation, or a copy that may, with the same signs.
func (n *node[V]) own(generation uint64) *node[V] {
	if n.born == generation {
		return n
	}

	if n.kids == nil {
		l := &leaf[V]{node: *n, array: *n.vals}
		l.vals, l.born = &l.array, generation

		return &l.node
	}

	x := &inner[V]{node: *n, array: *n.kids}
	x.kids, x.born = &x.array, generation

	return &x.node
}

// sign makes the signs of a node such that they may be changed as the node may.
func (n *node[V]) sign() {
	if n.made != n.born {
		s := *n.signs
		s.made = n.born
		n.signs = &s
	}
}

// head returns up to eight bytes of the key after those to skip, such that heads are in order as keys are.
func head(key string, skip uint16) uint64 {
	if len(key) <= int(skip) {
		return 0
	}

	rest := key[skip:]

	if len(rest) >= 8 {
		return uint64(rest[7]) | uint64(rest[6])<<8 | uint64(rest[5])<<16 | uint64(rest[4])<<24 |
			uint64(rest[3])<<32 | uint64(rest[2])<<40 | uint64(rest[1])<<48 | uint64(rest[0])<<56
	}

	h := uint64(0)

	for i := range len(rest) {
		h |= uint64(rest[i]) << (56 - 8*i)
	}

	return h
}

// before returns how many keys, of those from the first on, are smaller, or with orEqual the same.
func (s *signs) before(key string, first int, orEqual bool) int {
	h := head(key, s.skip)
	low, high := first, int(s.n)

	for low < high {
		mid := int(uint(low+high) / 2)

		if at := s.heads[mid]; at < h || at == h && (s.keys[mid] < key || orEqual && s.keys[mid] == key) {
			low = mid + 1
		} else {
			high = mid
		}
	}

	return low
}

// child returns which of the nodes below has the key in its range.
func (s *signs) child(key string) int { return s.before(key, 1, true) - 1 }

// find returns where in a leaf the key is, or belongs.
func (s *signs) find(key string) (at int, there bool) {
	at = s.before(key, 0, false)

	return at, at < int(s.n) && s.keys[at] == key
}

// below returns the range of a node below one with the range.
func (s *signs) below(i int, in span) span {
	if i > 0 {
		in.from = s.keys[i]
	}

	if i+1 < int(s.n) {
		in.to = s.keys[i+1]
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
		s.heads[i] = head(s.keys[i], s.skip)
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

// open makes room for an entry, whose value or node is to be set.
func (n *node[V]) open(at int, key string) {
	n.sign()

	end := int(n.n)

	copy(n.heads[at+1:end+1], n.heads[at:end])
	copy(n.keys[at+1:end+1], n.keys[at:end])
	n.heads[at], n.keys[at] = head(key, n.skip), key

	if n.kids == nil {
		copy(n.vals[at+1:end+1], n.vals[at:end])
	} else {
		copy(n.kids[at+1:end+1], n.kids[at:end])
	}

	n.n++
}

// drop takes an entry away; the size is left as it is.
func (n *node[V]) drop(at int) {
	n.sign()

	end := int(n.n)

	copy(n.heads[at:], n.heads[at+1:end])
	copy(n.keys[at:], n.keys[at+1:end])
	n.keys[end-1] = ""

	if n.kids == nil {
		copy(n.vals[at:], n.vals[at+1:end])
		clear(n.vals[end-1 : end])
	} else {
		copy(n.kids[at:], n.kids[at+1:end])
		n.kids[end-1] = nil
	}

	n.n--
}

// split moves the entries from one on to a new node and returns it. The ranges of both are to be told.
func (n *node[V]) split(at int) *node[V] {
	n.sign()

	var right *node[V]

	if n.kids == nil {
		right = newLeaf[V](n.born)
		right.size = int32(copy(right.vals[:], n.vals[at:n.n]))
		clear(n.vals[at:n.n])
	} else {
		right = newInner[V](n.born)
		copy(right.kids[:], n.kids[at:n.n])
		clear(n.kids[at:n.n])

		for _, kid := range right.kids[:int(n.n)-at] {
			right.size += kid.size
		}
	}

	right.n = uint16(copy(right.keys[:], n.keys[at:n.n]))
	clear(n.keys[at:n.n])

	n.n = uint16(at)
	n.size -= right.size

	return right
}

// take takes in the entries of the next node. The range is to be told.
func (n *node[V]) take(next *node[V]) {
	n.sign()

	at := n.n

	copy(n.keys[at:], next.keys[:next.n])

	if n.kids == nil {
		copy(n.vals[at:], next.vals[:next.n])
	} else {
		copy(n.kids[at:], next.kids[:next.n])
	}

	n.n += next.n
	n.size += next.size
}
