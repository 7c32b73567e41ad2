package rivalry

import "sync/atomic"

const (
	// slots is how many resources are followed at once.
	slots = 1024
	// few is how often writers must have taken turns before it is looked at what they write, and many how often after
	// it was found that they do not undo anything.
	few, many = 8, 1024
	// patience is for how many writes to others a resource keeps its slot without being written itself. So some thousand
	// resources that are rewritten in turn are found one after the other, where each would displace the next.
	patience = 15
)

// filter tells which resources may be worth looking at: those that are written by several controllers in turn. It forgets
// and mistakes some, and all that may come of it is to look in vain, or later.
type filter [slots]atomic.Uint64

// slot is what is known of one of the resources that share it.
type slot struct {
	tag    uint32 // 28 bits of its hash
	writer uint16 // who has written last; 0 is that the slot is free
	turns  uint16 // 15 bits: how often that was another one than before
	looks  bool   // it is looked at
	misses uint8  // 4 bits: how many writes there were to others since
}

func unpack(word uint64) slot {
	return slot{
		tag: uint32(word >> 36), writer: uint16(word >> 20), turns: uint16(word>>5) & 0x7fff, looks: word>>4&1 != 0, misses: uint8(word & 0xf),
	}
}

func (s slot) pack() uint64 {
	word := uint64(s.tag)<<36 | uint64(s.writer)<<20 | uint64(s.turns)<<5 | uint64(s.misses)

	if s.looks {
		word |= 1 << 4
	}

	return word
}

// note is told of a write to the resource with the hash. It returns the slot of the resource, and whether it is to be looked
// at what was written.
func (f *filter) note(hash uint64, writer uint16) (at int, look bool) {
	at = int(hash % slots)
	tag := uint32(hash >> 36)
	word := f[at].Load()
	s := unpack(word)

	switch {
	case s.tag != tag && s.writer != 0 && s.misses < patience:
		s.misses++
	case s.tag != tag || s.writer == 0:
		s = slot{tag: tag, writer: writer}
	default:
		look = s.turn(writer)
	}

	if packed := s.pack(); packed != word {
		f[at].Store(packed) // or the write of another resource is stored, or forgotten
	}

	return at, look
}

// turn notes a write to the resource, and tells whether it is to be looked at.
func (s *slot) turn(writer uint16) (look bool) {
	s.misses = 0

	if s.looks || s.writer == writer {
		return s.looks
	}

	s.writer = writer
	s.turns++

	if s.turns == few || s.turns == few+many {
		s.turns, s.looks = few, true
	}

	return s.looks
}

// forget frees a slot.
func (f *filter) forget(at int) { f[at].Store(0) }

// acquit ends that the resource in a slot is looked at.
func (f *filter) acquit(at int) {
	s := unpack(f[at].Load())
	s.looks = false
	f[at].Store(s.pack())
}
