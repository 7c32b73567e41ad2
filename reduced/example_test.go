package reduced_test

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

func ExampleMerge() {
	md := resource.NewMetadata("net", "Link", "eth0", resource.VersionUndefined.Next())

	// The link is destroyed, and there again before anybody was told.
	merged := reduced.Merge(reduced.Of(&thing{md}, true), reduced.Of(&thing{md}, false))

	fmt.Println(merged.Key(), "destroyed:", merged.Destroyed(), "cleanup is due:", merged.DestroyReady())
	// Output: Link(net/eth0) destroyed: false cleanup is due: true
}
