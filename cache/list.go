package cache

import (
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
)

// copies returns deep copies of all resources of a view without patches, in order of id.
//
// In the memory, resources lie in any order. Those of a leaf are touched before they are copied: so the processor fetches
// them all at once, where it would wait for one after the other.
func (c *contents) copies() []resource.Resource {
	items := make([]resource.Resource, 0, c.tree.len())

	c.tree.leaves(func(leaf []resource.Resource) {
		for _, res := range leaf {
			touch(res.Metadata())
		}

		for _, res := range leaf {
			items = append(items, res.DeepCopy())
		}
	})

	return items
}

// touch reads something of the beginning of a resource. It is a call so that the compiler does not leave it out.
//
//go:noinline
func touch(md *resource.Metadata) time.Time { return md.Created() }
