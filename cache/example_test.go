package cache_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
)

func Example() {
	c := cache.New(ints).Collection(ints)

	// The one who watches the kind feeds it.
	c.Start()
	c.Put(number("b", 2))
	c.Put(number("a", 1))
	c.Complete() // all that was there has been put; who waits for that is let in

	// Anybody may read it. A view stays as it is.
	before, _, _ := c.View(context.Background(), "example")

	c.Put(number("c", 3))
	c.Publish()

	after, _, _ := c.View(context.Background(), "example")

	for _, res := range before.List(state.ListOptions{}).Items {
		fmt.Println(res.Metadata().ID())
	}

	fmt.Println(before.Len(), after.Len())
	// Output:
	// a
	// b
	// 2 3
}
