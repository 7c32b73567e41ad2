package qruntime

import (
	"math/bits"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// job is what is to be done with the resource of an item.
type job uint8

const (
	reconcile job = iota
	mapInput
)

// String names the job for people.
func (j job) String() string {
	if j == mapInput {
		return "map"
	}

	return "reconcile"
}

// item is what the queue holds one of at most. There may be millions, so it names its kind by the number that the kind
// has among the inputs.
type item struct {
	id   resource.ID
	kind uint32
	job  job
}

// hash mixes the id, eight bytes at a time, with the rest.
func (it item) hash() uint64 {
	const odd = 0x9e3779b97f4a7c15

	hash := uint64(it.kind)<<8 | uint64(it.job)
	rest := it.id

	for ; len(rest) >= 8; rest = rest[8:] {
		hash = fold(hash^word(rest), odd)
	}

	tail := uint64(len(it.id))
	for i := range len(rest) {
		tail = tail<<8 | uint64(rest[i])
	}

	return fold(hash^tail, odd)
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)

	return high ^ low
}

// word returns the first eight bytes.
func word(s string) uint64 {
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// merge unites what has happened to the resource of an item that is to be mapped. What is put is nobody else's, so it
// becomes the result. There is nothing to unite for an item that is to be reconciled.
func merge(older, newer *reduced.Facts) *reduced.Facts {
	if older == nil || newer == nil {
		return newer
	}

	*newer = reduced.MergeFacts(*older, *newer)

	return newer
}
