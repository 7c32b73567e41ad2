package cache

// frozen is the contents of a tree at one moment. The zero value is empty.
type frozen[V any] struct{ root *node[V] }

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

	if at, there := n.find(key, 0); there {
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

	at, _ := n.find(key, 0)

	return rank + at
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
		first, _ := n.find(s.from, 0)
		end := int(n.n)

		if s.to != "" {
			end, _ = n.find(s.to, 0)
		}

		for i := first; i < end; i++ {
			if !yield(n.keys.of[i], n.vals[i]) {
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

// leaves yields all values, those of each leaf together, in order of key.
func (f frozen[V]) leaves(yield func(values []V)) {
	if f.root != nil {
		f.root.leaves(yield)
	}
}

func (n *node[V]) leaves(yield func(values []V)) {
	if n.kids == nil {
		yield(n.vals[:n.n])

		return
	}

	for _, kid := range n.kids[:n.n] {
		kid.leaves(yield)
	}
}
