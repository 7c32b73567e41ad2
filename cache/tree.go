package cache

// tree is an ordered map from strings. What was frozen does not change, whatever happens to the tree afterwards, and may
// be read by anybody; the tree itself is for one goroutine at a time.
//
// It is a B+ tree whose nodes are copied before they are changed, once between two calls of freeze. It is our own
// because a cache spends its time here: in the copies, and in the memory that looking up a key has to touch.
type tree[V any] struct {
	frozen[V]

	generation uint64
	// most is not less than any key, so that what comes in order finds its place by one comparison.
	most string
}

// freeze returns the present contents.
func (t *tree[V]) freeze() frozen[V] {
	t.generation++

	return t.frozen
}

// set adds or replaces a value and returns the former one.
func (t *tree[V]) set(key string, value V) (old V, replaced bool) {
	if t.root == nil {
		t.root = newLeaf[V](t.generation)
		t.most = ""
	}

	s := setting[V]{key: key, value: value, generation: t.generation, last: key > t.most}

	if s.last {
		t.most = key
	}

	root, right := s.in(t.root, span{})
	t.root = root

	if right != nil {
		above := newInner[V](t.generation)
		above.n, above.size = 2, root.size+right.size
		above.kids[0], above.kids[1], above.keys.of[1] = root, right, right.keys.of[0]
		above.ranged(span{})

		t.root = above
	}

	return s.old, s.replaced
}

// setting is a value on its way down into a tree.
type setting[V any] struct {
	key        string
	value      V
	generation uint64
	last       bool // the key is greater than all others

	old      V
	replaced bool
}

// place is [signs.find] in a leaf.
func (s *setting[V]) place(n *node[V]) (at int, there bool) {
	if s.last {
		return int(n.n), false
	}

	return n.find(s.key, 0)
}

// child is [signs.child].
func (s *setting[V]) child(n *node[V]) int {
	if s.last {
		return int(n.n) - 1
	}

	return n.child(s.key)
}

// in sets the value in or below a node. It returns the node, and another one to the right of it if there was no room for
// all.
func (s *setting[V]) in(n *node[V], in span) (_, right *node[V]) {
	n = n.own(s.generation)

	if n.kids == nil {
		at, there := s.place(n)
		if there {
			s.old, s.replaced = n.vals[at], true
			n.vals[at] = s.value

			return n, nil
		}

		into, at, right := n.room(at, s.key, in)
		into.vals[at] = s.value
		into.size++

		return n, right
	}

	at := s.child(n)
	kid, beside := s.in(n.kids[at], n.below(at, in))
	n.kids[at] = kid

	if !s.replaced {
		n.size++
	}

	if beside == nil {
		return n, nil
	}

	n.size -= beside.size
	into, at, right := n.room(at+1, beside.keys.of[0], in)
	into.kids[at] = beside
	into.size += beside.size

	return n, right
}

// room makes room for an entry that belongs at a place, and returns where it is to go. If the node was full, it is split:
// in the middle, or with all on the left that were there if the entry is the last one, so that what comes in order fills
// its nodes.
func (n *node[V]) room(at int, key string, in span) (into *node[V], _ int, right *node[V]) {
	into = n

	if n.n == width {
		cut := width / 2
		if at == width {
			cut = width
		}

		right = n.split(cut)

		if at >= cut {
			into, at = right, at-cut
		}
	}

	into.open(at, key)

	if right != nil {
		n.ranged(span{in.from, right.keys.of[0]})
		right.ranged(span{right.keys.of[0], in.to})
	}

	return into, at, right
}

// delete takes a key away and returns its value.
func (t *tree[V]) delete(key string) (old V, there bool) {
	if t.root == nil {
		return old, false
	}

	t.root, old, there = t.root.delete(key, t.generation, span{})

	for t.root.kids != nil && t.root.n == 1 {
		t.root = t.root.kids[0]
	}

	if t.root.size == 0 {
		t.root = nil
	}

	return old, there
}

// delete returns the node without the key. A node that was left with little is joined with one beside it if there is
// room for both.
func (n *node[V]) delete(key string, generation uint64, in span) (_ *node[V], old V, there bool) {
	if n.kids == nil {
		at, there := n.find(key, 0)
		if !there {
			return n, old, false
		}

		n = n.own(generation)
		old = n.vals[at]
		n.drop(at)
		n.size--

		return n, old, true
	}

	at := n.child(key)

	kid, old, there := n.kids[at].delete(key, generation, n.below(at, in))
	if !there {
		return n, old, false
	}

	n = n.own(generation)
	n.kids[at] = kid
	n.size--

	if kid.n < width/4 && !n.join(at, generation, in) {
		n.join(at-1, generation, in)
	}

	return n, old, true
}

// join makes one of two nodes below, this and the next, if there are both, and tells whether it did. It does not if that
// would leave little room for more.
func (n *node[V]) join(at int, generation uint64, in span) bool {
	if at < 0 || at+1 >= int(n.n) {
		return false
	}

	left, right := n.kids[at], n.kids[at+1]

	if left.n+right.n > width*3/4 && left.n > 0 && right.n > 0 {
		return false
	}

	left = left.own(generation)
	left.take(right)
	n.kids[at] = left
	n.drop(at + 1)
	left.ranged(n.below(at, in))

	return true
}
