package runtime

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// ahead is how many resources of a load are fetched from memory at once.
const ahead = 16

// fetch touches resources that are looked at next. Those of a load lie anywhere in memory, and when all are touched first
// the processor waits for many at once instead of for one after the other, which is most of what taking them in costs. One
// that panics is found out when it is its turn, after those before it have been taken in.
func fetch(events []state.Event) {
	defer func() { _ = recover() }()

	for i := range events {
		if res := events[i].Resource; res != nil {
			touch(res.Metadata())
		}
	}

	for i := range events {
		if res := events[i].Resource; res != nil {
			touchID(res.Metadata())
		}
	}
}

// touch is not inlined, so that the compiler can not leave it out.
//
//go:noinline
func touch(md *resource.Metadata) (resource.ID, resource.Phase) { return md.ID(), md.Phase() }

// touchID touches what the metadata refers to.
//
//go:noinline
func touchID(md *resource.Metadata) (uint64, byte) {
	id := md.ID()
	if id == "" {
		return 0, 0
	}

	return md.Version().Value(), id[len(id)-1]
}
