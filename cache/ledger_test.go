package cache

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
)

// written returns resources and a collection that shows none of them, with a write of each noted for an owner.
func written(t *testing.T, n int) (*Collection, *Writes, []resource.Resource) {
	t.Helper()

	c := New(Config{Kinds: []reduced.Kind{{Namespace: "net", Type: "Link"}}}).Collection(reduced.Kind{Namespace: "net", Type: "Link"})
	c.Start()
	c.Complete()

	w := c.Writes()
	all := make([]resource.Resource, n)

	for i := range all {
		all[i] = resource.NewTombstone(resource.NewMetadata("net", "Link", fmt.Sprint("link-", i), resource.VersionUndefined.Next()))
		write(w, all[i])
	}

	return c, w, all
}

func write(w *Writes, res resource.Resource) {
	wr := w.Begin(res.Metadata().ID())
	defer wr.End()

	wr.Wrote(res)
}

// A note is forgotten once, for whatever reasons it is looked at.
func TestNotesAreForgottenOnce(t *testing.T) {
	t.Parallel()

	c, w, all := written(t, 3*spareNotes)
	other := c.Writes()

	write(other, all[0])
	require.EqualValues(t, len(all), w.pending.Load())
	require.EqualValues(t, len(all)+1, c.ledger.pending.Load())

	for _, res := range all {
		c.Put(res)
	}

	c.Publish()
	c.Publish()

	require.Zero(t, w.pending.Load())
	require.Zero(t, other.pending.Load())
	require.Zero(t, c.ledger.pending.Load())
	require.Empty(t, c.ledger.notes)
	require.Nil(t, w.notes)
	require.Nil(t, other.notes)
	require.Len(t, c.ledger.spare, spareNotes)
}

// A write is followed whatever the time is at which its resource was created, also where its maker does not say or the
// clock is not set.
func TestWritesOfAllTimes(t *testing.T) {
	t.Parallel()

	for _, created := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(0, 1), time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64), time.Unix(math.MaxInt64/2, 0),
	} {
		c, w, _ := written(t, 0)
		res := resource.NewTombstone(resource.NewMetadata("net", "Link", "a", resource.VersionUndefined.Next()))
		res.Metadata().SetCreated(created)

		write(w, res)
		require.True(t, w.Unseen("a"), created)

		wr := w.Begin("a")
		require.True(t, wr.Known(), created)
		wr.Destroyed()
		wr.End()
		require.True(t, w.Unseen("a"), created)

		c.Put(res)
		c.Publish()
		require.True(t, w.Unseen("a"), "it is there still")

		c.Delete("a")
		c.Publish()
		require.False(t, w.Unseen("a"), created)
	}
}

// Values are kept for an owner that reads what it has written, and after a while no more.
func TestValuesAreKeptForThoseWhoReadThem(t *testing.T) {
	t.Parallel()

	_, w, all := written(t, 1)
	asked := 0

	read := func() {
		view, ok, err := w.View(context.Background(), "owner", all[0].Metadata().ID(), func(resource.ID) (resource.Resource, error) {
			asked++

			return all[0], nil
		})
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, 1, view.Len())
	}

	read()
	require.Equal(t, 1, asked, "nothing was known of the owner")

	for range 10 {
		write(w, all[0])
		read()
	}

	require.Equal(t, 1, asked)

	for range mostKept {
		write(w, all[0])
	}

	read()
	require.Equal(t, 2, asked)
}

// However often one value is read, the state would have been asked for it once.
func TestAValueThatIsReadOftenIsWorthNoMore(t *testing.T) {
	t.Parallel()

	_, w, all := written(t, 1)
	asked := 0

	read := func() {
		_, _, err := w.View(t.Context(), "owner", all[0].Metadata().ID(), func(resource.ID) (resource.Resource, error) {
			asked++

			return all[0], nil
		})
		require.NoError(t, err)
	}

	read()

	write(w, all[0])

	for range 2 * mostKept {
		read()
	}

	require.Equal(t, 1, asked)

	for range 2 * worth {
		write(w, all[0])
	}

	read()
	require.Equal(t, 2, asked)
}

// A version that a write has made is not found in contents from before it, which may show an earlier life of the resource
// that was created at the same time. One that was there already is.
func TestNewVersionsAreNotLookedForInWhatWasShownBefore(t *testing.T) {
	t.Parallel()

	c, w, all := written(t, 1)
	first := all[0].Metadata()
	earlier := resource.NewTombstone(*first)
	earlier.Metadata().SetVersion(first.Version().Next().Next())
	earlier.Metadata().SetCreated(first.Created())

	c.Put(earlier)
	c.Publish()
	require.False(t, w.Unseen(first.ID()))

	wr := w.Begin(first.ID())
	wr.OnTopOf(resource.VersionUndefined)
	wr.Wrote(all[0])
	wr.End()
	require.True(t, w.Unseen(first.ID()), "it is a new one")

	c.Delete(first.ID())
	c.Put(all[0])
	c.Publish()
	require.False(t, w.Unseen(first.ID()))

	wr = w.Begin(first.ID())
	wr.OnTopOf(first.Version())
	wr.Wrote(all[0])
	wr.End()
	require.False(t, w.Unseen(first.ID()), "nothing was changed")
}

// What was noted is forgotten when the run ends. A reader that comes to know of it late is to read the state.
func TestEndOfARunBesideAReader(t *testing.T) {
	t.Parallel()

	c, w, all := written(t, 2)

	_, ok, err := w.View(context.Background(), "owner", "", func(resource.ID) (resource.Resource, error) {
		c.Stop()

		return all[0], nil
	})
	require.NoError(t, err)
	require.False(t, ok)
}
