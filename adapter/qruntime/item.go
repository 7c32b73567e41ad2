package qruntime

import (
	"cmp"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/internal/index"
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

// hash mixes the id with the rest.
func (it item) hash() uint64 { return index.Hash(it.id, uint64(it.kind)<<8|uint64(it.job)) }

// compare orders items by kind and job, and then by id.
func (it item) compare(other item) int {
	if it.kind != other.kind || it.job != other.job {
		return cmp.Or(cmp.Compare(it.kind, other.kind), cmp.Compare(it.job, other.job))
	}

	return strings.Compare(it.id, other.id)
}
