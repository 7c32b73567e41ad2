package dependency_test

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

func Example() {
	db := dependency.NewDatabase[string]()

	// A declaration is taken as a whole, under a name and with what changes are delivered to.
	links, err := db.Register("LinkController", dependency.Classic, "links",
		[]controller.Input{{Namespace: "net", Type: "LinkSpec", Kind: controller.InputStrong}},
		[]controller.Output{{Type: "Link", Kind: controller.OutputExclusive}}, nil)
	fmt.Println(err)

	// Or it is refused as a whole.
	_, err = db.Register("OtherController", dependency.Classic, "other", nil,
		[]controller.Output{{Type: "Link", Kind: controller.OutputShared}}, nil)
	fmt.Println(err)

	// What a controller may do is asked of its node.
	fmt.Println(links.Writes("Link"), links.Writes("LinkSpec"))

	// Whom a change concerns is for the router to say.
	router := dependency.NewRouter(db, func(target string, changes []reduced.Metadata, _ controller.InputKind) {
		fmt.Println("wake", target, "for", changes[0].Key())
	})

	router.Route([]reduced.Metadata{changed("net", "LinkSpec", "eth0")})

	// Output:
	// <nil>
	// controller "OtherController": output is taken: shared output "Link" by controller "LinkController" (an exclusive output allows no other claim on its type; declare both as shared)
	// true false
	// wake links for LinkSpec(net/eth0)
}
