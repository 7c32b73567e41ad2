package cache

// tree is an ordered map from strings. What was frozen does not change, whatever happens to the tree afterwards, and may
// be read by anybody; the tree itself is for one goroutine at a time.
//
// It is a B+ tree whose nodes are copied before they are changed, once between two calls of freeze. It is our own
// because a cache spends its time here: in the copies, and in the memory that looking up a key has to touch.
type tree[V any] struct {
	frozen[V]

	generation uint64
}

// frozen is the contents of a tree at one moment. The zero value is empty.
type frozen[V any] struct{ root *node[V] }

// freeze returns the present contents.
func (t *tree[V]) freeze() frozen[V] {
	t.generation++

	return t.frozen
}

// len returns the number of keys.
func (f frozen[V]) len() int {
	if f.root == nil {
		return 0
	}

	return int(f.root.size)
}

// get returns the value of a key.
func (f frozen[V]) get(key string) (value V, there bool) {
	n := f.root
	if n == nil {
		return value, false
	}

	for n.kids != nil {
		n = n.kids[n.child(key)]
	}

	if at, there := n.find(key); there {
		return n.vals[at], true
	}

	return value, false
}

// rank returns how many keys are smaller.
func (f frozen[V]) rank(key string) int {
	n := f.root
	if n == nil {
		return 0
	}

	rank := 0

	for n.kids != nil {
		at := n.child(key)

		for _, kid := range n.kids[:at] {
			rank += int(kid.size)
		}

		n = n.kids[at]
	}

	return rank + n.before(key, 0, false)
}

// count returns the number of keys in a range.
func (f frozen[V]) count(s span) int {
	end := f.len()

	if s.to != "" {
		end = f.rank(s.to)
	}

	return max(0, end-f.rank(s.from))
}

// scan yields what is in a range in order of key. It returns false if the callback did.
func (f frozen[V]) scan(s span, yield func(key string, value V) bool) bool {
	return f.root == nil || f.root.scan(s, yield)
}

// scan yields what the node holds in a range.
func (n *node[V]) scan(s span, yield func(key string, value V) bool) bool {
	if n.kids == nil {
		first, end := n.before(s.from, 0, false), int(n.n)

		if s.to != "" {
			end = n.before(s.to, 0, false)
		}

		for i := first; i < end; i++ {
			if !yield(n.keys[i], n.vals[i]) {
				return false
			}
		}

		return true
	}

	first, last := n.child(s.from), int(n.n)-1

	if s.to != "" {
		last = n.child(s.to)
	}

	for i := first; i <= last; i++ {
		part := s

		if i > first {
			part.from = ""
		}

		if i < last {
			part.to = ""
		}

		if !n.kids[i].scan(part, yield) {
			return false
		}
	}

	return true
}

// set adds or replaces a value and returns the former one.
func (t *tree[V]) set(key string, value V) (old V, replaced bool) {
	if t.root == nil {
		t.root = newLeaf[V](t.generation)
	}

	s := setting[V]{key: key, value: value, generation: t.generation}

	root, right := s.in(t.root, span{})
	t.root = root

	if right != nil {
		above := newInner[V](t.generation)
		above.n, above.size = 2, root.size+right.size
		above.kids[0], above.kids[1], above.keys[1] = root, right, right.keys[0]
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

	old      V
	replaced bool
}

// in sets the value in or below a node. It returns the node, and another one to the right of it if there was no room for
// all.
func (s *setting[V]) in(n *node[V], in span) (_, right *node[V]) {
	n = n.own(s.generation)

	if n.kids == nil {
		at, there := n.find(s.key)
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

	at := n.child(s.key)
	kid, beside := s.in(n.kids[at], n.below(at, in))
	n.kids[at] = kid

	if !s.replaced {
		n.size++
	}

	if beside == nil {
		return n, nil
	}

	n.size -= beside.size
	into, at, right := n.room(at+1, beside.keys[0], in)
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
		n.ranged(span{in.from, right.keys[0]})
		right.ranged(span{right.keys[0], in.to})
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
		at, there := n.find(key)
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
