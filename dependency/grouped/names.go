package grouped

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"
)

// part is some members, and what all of their names begin with: the whole name where there is one member.
type part struct {
	members []int // in order
	begin   string
}

// alike puts those together that have the same shape, in the order of their first members.
func alike(names []string, shapes [][]byte) []part {
	at := map[string]int{}

	var parts []part

	for i, shape := range shapes {
		p, known := at[string(shape)]
		if !known {
			p = len(parts)
			at[string(shape)] = p
			parts = append(parts, part{})
		}

		parts[p].members = append(parts[p].members, i)
	}

	for i, p := range parts {
		parts[i].begin = common(names[p.members[0]], names[p.members[len(p.members)-1]])
	}

	return parts
}

// common is what two names begin with, as far as it is whole words of both. Of names in order, the first and the last have in
// common what all have.
func common(a, b string) string {
	at := 0

	for at < len(a) && at < len(b) {
		next := wordEnd(a, at)
		if next != wordEnd(b, at) || a[at:next] != b[at:next] {
			break
		}

		at = next
	}

	return a[:at]
}

// branch is some of the parts, all of which begin with the same bytes.
type branch struct {
	parts  []int
	at     int
	closed bool // it is not to be divided any further
}

// dissolved are the parts with the members of those by themselves that have nothing in common in their names.
func dissolved(parts []part, names []string) []part {
	var all []part

	for _, p := range parts {
		if p.begin != "" {
			all = append(all, p)

			continue
		}

		for _, member := range p.members {
			all = append(all, part{members: []int{member}, begin: names[member]})
		}
	}

	return all
}

// merge puts parts together that begin alike, so that there are no more than the limit. It begins with all of them, and divides what
// is largest for as long as it may.
func merge(parts []part, names []string, limit int) []part {
	if len(parts) <= limit {
		return parts
	}

	parts = dissolved(parts, names)

	all := branch{parts: make([]int, len(parts))}
	for i := range parts {
		all.parts[i] = i
	}

	slices.SortStableFunc(all.parts, func(a, b int) int { return cmp.Compare(parts[a].begin, parts[b].begin) })

	branches := []branch{all}

	for {
		largest := -1

		for i, b := range branches {
			if !b.closed && (largest < 0 || len(b.parts) > len(branches[largest].parts)) {
				largest = i
			}
		}

		if largest < 0 {
			break
		}

		b := branches[largest]
		room := limit - len(branches) + 1
		divided := b.divide(parts, wordEnd)

		// Without a word in common a large branch is divided by letters.
		if len(divided) > room && 10*len(b.parts) > len(parts) {
			divided = b.divide(parts, letterEnd)
		}

		if len(divided) > room {
			branches[largest].closed = true

			continue
		}

		branches = slices.Replace(branches, largest, largest+1, divided...)
	}

	merged := make([]part, 0, len(branches))

	for _, b := range branches {
		merged = append(merged, b.join(parts))
	}

	slices.SortFunc(merged, func(a, b part) int { return cmp.Compare(a.members[0], b.members[0]) })

	return merged
}

// divide returns branches for what may follow, in order. A branch that can not be divided comes back closed.
func (b branch) divide(parts []part, end func(string, int) int) []branch {
	var divided []branch

	at := map[string]int{}

	for _, i := range b.parts {
		begin := parts[i].begin
		begin = begin[:end(begin, b.at)]

		to, known := at[begin]
		if !known {
			to = len(divided)
			at[begin] = to
			divided = append(divided, branch{at: len(begin)})
		}

		divided[to].parts = append(divided[to].parts, i)
	}

	for i := range divided {
		divided[i].closed = len(divided[i].parts) == 1 || divided[i].at == b.at
	}

	return divided
}

// join makes one part of a branch.
func (b branch) join(parts []part) part {
	if len(b.parts) == 1 {
		return parts[b.parts[0]]
	}

	p := part{begin: parts[b.parts[0]].begin[:b.at]}

	for _, i := range b.parts {
		p.members = append(p.members, parts[i].members...)
	}

	slices.Sort(p.members)

	return p
}

// letterEnd is where the character ends that begins at a position.
func letterEnd(name string, at int) int {
	_, size := utf8.DecodeRuneInString(name[at:])

	return at + size
}

// wordEnd is where the word ends that begins at a position: before a change from small letters to large ones, from letters to
// anything else, before the last of several large letters that a small one follows, after a digit, and after punctuation.
func wordEnd(name string, at int) int {
	first, size := utf8.DecodeRuneInString(name[at:])
	end := at + size

	if !unicode.IsLetter(first) {
		return end
	}

	for before := first; end < len(name); {
		r, size := utf8.DecodeRuneInString(name[end:])
		after, _ := utf8.DecodeRuneInString(name[end+size:])

		switch {
		case !unicode.IsLetter(r):
			if !unicode.IsDigit(r) {
				end += size
			}

			return end
		case unicode.IsUpper(r) && (!unicode.IsUpper(before) || unicode.IsLower(after)):
			return end
		}

		before = r
		end += size
	}

	return end
}

// named gives each part a name that no other one has. Those with one member come first, since their names are given.
func named(names []string, parts []part) []Members {
	all := make([]Members, len(parts))
	taken := map[string]bool{}

	for i, p := range parts {
		all[i].Names = make([]string, len(p.members))
		for j, member := range p.members {
			all[i].Names[j] = names[member]
		}

		if len(p.members) == 1 {
			all[i].Name = names[p.members[0]]
			taken[all[i].Name] = true
		}
	}

	for i, p := range parts {
		if len(p.members) == 1 {
			continue
		}

		name := fmt.Sprintf("%s… (%d)", p.begin, len(p.members))

		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s… (%d, %d)", p.begin, len(p.members), n)
		}

		all[i].Name = name
		taken[name] = true
	}

	return all
}
