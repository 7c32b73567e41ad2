package queue

import (
	"math/bits"

	"github.com/switchyard-run/switchyard/internal/index"
)

const (
	// chunkSize is how many entries are allocated at once: enough to make the allocator cheap, few enough for a queue that
	// has had a single item to keep little.
	chunkSize = 16
	chunkBits = 4

	allFree = 1<<chunkSize - 1
)

// ref names an entry of a slab, for as long as the entry is in use.
type ref = index.Ref

// slab allocates entries in chunks, and lets go of a chunk when none of its entries is in use, but for one: so neither a
// queue that is used a little nor one with a standing backlog allocates all the time.
type slab[K comparable, V any] struct {
	chunks []chunk[K, V]
	// room holds the numbers of the chunks with unused entries, those without memory among them, in no order. The last
	// one is used first: it is where an entry was freed last.
	room []uint32
	// spare is the memory of an empty chunk, or nil.
	spare *[chunkSize]entry[K, V]

	// live counts the entries in use, held the chunks that have memory.
	live, held int
}

// chunk is a number of entries next to each other. It has no memory while all of them are unused.
type chunk[K comparable, V any] struct {
	entries *[chunkSize]entry[K, V]
	// unused has a bit for each entry.
	unused uint16
}

// at returns an entry in use. It stays where it is.
func (s *slab[K, V]) at(r ref) *entry[K, V] {
	return &s.chunks[(r-1)>>chunkBits].entries[(r-1)&(chunkSize-1)]
}

// take returns an entry that was not in use, and is zero.
func (s *slab[K, V]) take() ref {
	if len(s.room) == 0 {
		s.room = append(s.room, uint32(len(s.chunks)))
		s.chunks = append(s.chunks, chunk[K, V]{unused: allFree})
	}

	number := s.room[len(s.room)-1]
	c := &s.chunks[number]

	if c.entries == nil {
		if c.entries, s.spare = s.spare, nil; c.entries == nil {
			c.entries = new([chunkSize]entry[K, V])
		}

		s.held++
	}

	at := bits.TrailingZeros16(c.unused)
	c.unused &^= 1 << at
	s.live++

	if c.unused == 0 {
		s.room = s.room[:len(s.room)-1]
	}

	return ref(number<<chunkBits|uint32(at)) + 1
}

// free makes an entry zero that is not in use any more.
func (s *slab[K, V]) free(r ref) {
	number := uint32(r-1) >> chunkBits
	c := &s.chunks[number]
	*s.at(r) = entry[K, V]{}

	if c.unused == 0 {
		s.room = append(s.room, number)
	}

	c.unused |= 1 << (uint32(r-1) & (chunkSize - 1))
	s.live--

	if c.unused == allFree {
		s.spare, c.entries = c.entries, nil
		s.held--
	}
}

// A slab is loose when it has more than smallSlab chunks and no more than one in sparse of their entries is in use, or when
// no more than one in shrunk is of all the chunks it has ever had, which take a little memory each even if they have none.
const (
	smallSlab = 64
	sparse    = 8
	shrunk    = 64
	tiny      = 4
)

// loose tells whether the slab is to be replaced by one that is packed more tightly: a few entries can keep many chunks.
func (s *slab[K, V]) loose() bool {
	return s.held > smallSlab && s.live <= s.held*chunkSize/sparse ||
		len(s.chunks) > tiny && s.live <= len(s.chunks)*chunkSize/shrunk
}
