package cache_test

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

func Example() {
	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)

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

// Who only looks needs no copies.
func ExampleTyped() {
	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)

	c.Start()
	c.Put(labelled("a", 1, "colour", "red"))
	c.Put(labelled("b", 20, "colour", "blue"))
	c.Put(labelled("c", 300, "colour", "red"))
	c.Complete()

	view, _, _ := c.View(context.Background(), "example")
	red, _ := cache.ServesList([]state.ListOption{state.WithLabelQuery(resource.LabelEqual("colour", "red"))})
	sum := 0

	for res, err := range cache.Typed[*conformance.IntResource](view.Match(red)) {
		if err != nil {
			fmt.Println(err)

			continue
		}

		sum += res.Value()
	}

	fmt.Println(sum)
	// Output: 301
}

// Somebody changes what it was lent, and is named.
func ExampleConfig_detect() {
	c := cache.New(cache.Config{
		Kinds:  []reduced.Kind{ints},
		Detect: func(err *cache.MutationError) { fmt.Println(err) },
	}).Collection(ints)

	c.Start()
	c.Put(number("a", 1))
	c.Complete()

	view, _, _ := c.View(context.Background(), "careless controller")

	for res := range view.All() {
		res.Metadata().Labels().Set("seen", "")
	}
	// Output:
	// cached resource test/int(n/a) was changed, it had been lent to careless controller: take a deep copy before changing what the cache shares
}
