package index

import "math/bits"

// odd is what hashes are multiplied by.
const odd = 0x9e3779b97f4a7c15

// Hash mixes a string, eight bytes at a time, with a seed.
func Hash(s string, seed uint64) uint64 {
	hash := seed
	rest := s

	for ; len(rest) >= 8; rest = rest[8:] {
		hash = fold(hash ^ word(rest))
	}

	tail := uint64(len(s))
	for i := range len(rest) {
		tail = tail<<8 | uint64(rest[i])
	}

	return fold(hash ^ tail)
}

// Spread makes of a hash one that is good in its first and in its last bits, as an [Index] needs it, where the hash is not,
// such as a number that counts.
func Spread(hash uint64) uint32 { return uint32((hash ^ hash>>32) * odd >> 32) }

func fold(a uint64) uint64 {
	high, low := bits.Mul64(a, odd)

	return high ^ low
}

// word returns the first eight bytes.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
