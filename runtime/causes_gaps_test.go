package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// gapsWorld is the world of causes with watches that break, and controllers that are paused, unregistered and registered again. What
// is told is not all that has happened then; what is told has happened nevertheless, and nobody is blamed for what others have done.
type gapsWorld struct {
	*causesWorld

	watched *faulty
	// late tells that watches break and are held up. Then controllers forget nothing: a change that is told late may have been made by
	// a pass that was forgotten before anybody would look for it.
	late   bool
	paused map[string]bool
	gone   map[string]bool
}

// Whatever watches and controllers go through, what passes say has happened has, and what is said to come from outside does.
func TestPassesBlameNobodyAfterGaps(t *testing.T) {
	t.Parallel()

	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testCausesAfterGaps(t, seed) })
		})
	}
}

func testCausesAfterGaps(t *testing.T, seed uint64) {
	st := state.WrapCore(namespaced.NewState(func(ns resource.Namespace) state.CoreState {
		return inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(1 << 16))(ns)
	}))
	w := &gapsWorld{
		causesWorld: &causesWorld{
			t: t, rand: rand.New(rand.NewPCG(seed, 3)), chance: rand.New(rand.NewPCG(seed, 4)), log: map[reduced.Key][]happened{},
			made: map[string]string{}, outside: map[string]bool{}, destroyed: map[reduced.Key]int{}, begun: make(chan struct{}), state: st,
		},
		watched: newFaulty(st), paused: map[string]bool{}, gone: map[string]bool{},
	}

	w.late = w.rand.IntN(2) == 0

	config := runtime.Config{Passes: 1 << 20}
	if !w.late && w.rand.IntN(3) > 0 {
		config.Passes = 1 + w.rand.IntN(40)
	}

	var err error

	w.engine, err = runtime.New(w.watched.asState(), nil, config)
	require.NoError(t, err)

	outside := w.populate()
	ctx, cancel := context.WithCancel(t.Context())
	running := w.run(ctx)

	for range 20 + w.rand.IntN(40) {
		w.trouble(ctx)

		for range 1 + w.rand.IntN(15) {
			w.act(ctx, outside)
			time.Sleep(time.Millisecond)
		}

		time.Sleep(time.Duration(w.rand.IntN(4000)) * time.Millisecond)
	}

	w.watched.release()
	w.watched.set(func() { w.watched.forget = false })

	for _, name := range slices.Sorted(maps.Keys(w.paused)) {
		require.NoError(t, w.engine.Resume(name))
	}

	time.Sleep(time.Hour)
	synctest.Wait()

	w.book = w.engine.Book()

	for _, c := range w.all {
		if !w.gone[c.name] {
			w.checkTrue(c)
		}
	}

	cancel()
	running.Wait()
}

// trouble has something befall watches or a controller.
func (w *gapsWorld) trouble(ctx context.Context) {
	c := w.all[w.rand.IntN(len(w.all))]

	what := w.rand.IntN(9)
	if w.late == (what >= 7) {
		return
	}

	switch what {
	case 0, 1, 2:
		w.watched.breakAll(w.kinds[w.rand.IntN(len(w.kinds))], errors.New("broken"))
	case 3:
		forget := w.rand.IntN(2) == 0
		w.watched.set(func() { w.watched.forget = forget })
	case 4:
		w.watched.release()
		w.watched.hold()
	case 5, 6:
		w.watched.release()
	case 7:
		switch {
		case w.gone[c.name]:
		case w.paused[c.name]:
			require.NoError(w.t, w.engine.Resume(c.name))
			delete(w.paused, c.name)
		default:
			require.NoError(w.t, w.engine.Pause(ctx, c.name))
			w.paused[c.name] = true
		}
	case 8:
		if w.gone[c.name] {
			w.register(c)
			delete(w.gone, c.name)

			return
		}

		require.NoError(w.t, w.engine.Unregister(ctx, c.name))
		delete(w.paused, c.name)
		w.gone[c.name] = true
	}
}

// checkTrue looks at what the passes of a controller say.
func (w *gapsWorld) checkTrue(c *traced) {
	passes, err := w.engine.Passes(c.name)
	require.NoError(w.t, err)

	for i := range passes {
		p := &passes[i]

		require.NotEqual(w.t, cause.Running, p.Outcome)

		for j := range p.Causes {
			w.checkCause(p, &p.Causes[j])
		}
	}
}

// checkCause looks at what a pass says of one resource, unless that has had several lives: those can not always be told apart.
func (w *gapsWorld) checkCause(p *cause.Pass, c *cause.Cause) {
	said := fmt.Sprintf("%s %d of %v: %s", p.Controller, p.Number, p.Item, c)
	writers := w.book.Writers(p, c)

	require.True(w.t, slices.ContainsFunc(w.log[c.Resource], func(h happened) bool {
		return h.to == c.To && h.born == c.Life
	}), "%s has not happened", said)

	if c.Changed&reduced.ChangeDestroyed != 0 {
		return
	}

	others := 0

	for _, h := range w.log[c.Resource] {
		if h.born == c.Life && h.to > c.From && h.to <= c.To && w.outside[h.version(c.Resource)] {
			others++
		}
	}

	if !writers.Forgotten {
		require.LessOrEqual(w.t, writers.Others, others, "%s: who has made it is known; by %v", said, writers.Passes)
	}

	for _, q := range writers.Passes {
		require.True(w.t, slices.ContainsFunc(q.Writes, func(a cause.Access) bool { return a.Resource == c.Resource }), said)
	}
}
