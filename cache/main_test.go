package cache_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// ints is the kind that most tests cache.
var ints = reduced.Kind{Namespace: "n", Type: conformance.IntResourceType}

// number is a running resource of the kind; all of one id are of one incarnation.
func number(id resource.ID, value int) *conformance.IntResource {
	res := conformance.NewIntResource(ints.Namespace, id, value)
	res.Metadata().SetCreated(time.Unix(0, 0))

	return res
}

// labelled is a number with labels: keys and values by turns.
func labelled(id resource.ID, value int, pairs ...string) *conformance.IntResource {
	res := number(id, value)

	for i := 0; i < len(pairs); i += 2 {
		res.Metadata().Labels().Set(pairs[i], pairs[i+1])
	}

	return res
}

// tearingDown is a resource of the kind that is tearing down.
func tearingDown(id resource.ID) *conformance.IntResource {
	res := number(id, 0)
	res.Metadata().SetPhase(resource.PhaseTearingDown)

	return res
}

// started returns a started collection that is complete with the resources.
func started(contents ...resource.Resource) *cache.Collection {
	c := cache.New(cache.Config{Kinds: []reduced.Kind{ints}}).Collection(ints)
	c.Start()

	for _, res := range contents {
		c.Put(res)
	}

	c.Complete()

	return c
}

// view returns the newest contents of a collection that serves.
func view(t require.TestingT, c *cache.Collection) cache.View {
	v, ok, err := c.View(context.Background(), "test")
	require.NoError(t, err)
	require.True(t, ok)

	return v
}

// values returns what is listed, in order.
func values(list resource.List) []pair {
	pairs := make([]pair, 0, len(list.Items))
	for _, res := range list.Items {
		pairs = append(pairs, pair{res.Metadata().ID(), res.(conformance.IntegerResource).Value()})
	}

	return pairs
}

type pair struct {
	id    resource.ID
	value int
}

func all(v cache.View) []pair { return values(v.List(state.ListOptions{})) }
