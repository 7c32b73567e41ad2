package cache

// width is how many entries a node holds at most. It is small because a change copies all nodes above it, once for each
// publication, and such that all parts of nodes of resources fill the sizes in which memory is handed out.
const width = 19

// node is a node of a [tree]: a leaf, which holds values, or an inner node, which holds nodes. All keys of a node are in
// its range, which is from its key in the node above to the next one there.
type node[V any] struct {
	signs

	// born is the generation of the tree in which the node was made, and may be changed in place.
	born uint64
	// size is the number of values in and below the node.
	size int32
	kids *[width]*node[V] // nil in a leaf
	vals *[width]V        // nil in an inner node
}

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
	l := &leaf[V]{node: node[V]{born: born, signs: newSigns(born)}}
	l.vals = &l.array

	return &l.node
}

func newInner[V any](born uint64) *node[V] {
	x := &inner[V]{node: node[V]{born: born, signs: newSigns(born)}}
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
	if n.keys.made != n.born {
		k := *n.keys
		k.made = n.born
		n.keys = &k
	}
}

// open makes room for an entry, whose value or node is to be set.
func (n *node[V]) open(at int, key string) {
	n.sign()

	end := int(n.n)

	copy(n.heads[at+1:end+1], n.heads[at:end])
	copy(n.keys.of[at+1:end+1], n.keys.of[at:end])
	n.heads[at], n.keys.of[at] = head(key, n.skip), key

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
	copy(n.keys.of[at:], n.keys.of[at+1:end])
	n.clear(end - 1)

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

	right.n = uint16(copy(right.keys.of[:], n.keys.of[at:n.n]))
	n.clear(at)

	n.n = uint16(at)
	n.size -= right.size

	return right
}

// take takes in the entries of the next node. The range is to be told.
func (n *node[V]) take(next *node[V]) {
	n.sign()

	at := n.n

	copy(n.keys.of[at:], next.keys.of[:next.n])

	if n.kids == nil {
		copy(n.vals[at:], next.vals[:next.n])
	} else {
		copy(n.kids[at:], next.kids[:next.n])
	}

	n.n += next.n
	n.size += next.size
}
