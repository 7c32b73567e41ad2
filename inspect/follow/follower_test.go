package follow_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/follow"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine is some tracers.
type engine map[string]*cause.Tracer

func (e engine) PassesSince(name string, number uint64) ([]cause.Pass, error) {
	if tr, ok := e[name]; ok {
		return tr.PassesSince(number), nil
	}

	return nil, runtime.ErrNotRegistered
}

func (e engine) Health() (h runtime.Health) {
	for name, tr := range e {
		h.Controllers = append(h.Controllers, runtime.ControllerHealth{Name: name, Passes: tr.Count()})
	}

	return h
}

func (e engine) add(name string, passes, workers int) *cause.Tracer {
	e[name] = cause.New(cause.Config{Controller: name, Passes: passes, Workers: workers})

	return e[name]
}

func end(o *cause.Open) { o.End(time.Second, cause.Succeeded, nil, 0) }

// names returns which passes these are.
func names(passes []cause.Pass) []string {
	all := []string{}
	for i := range passes {
		all = append(all, fmt.Sprintf("%s%d", passes[i].Controller, passes[i].Number))
	}

	return all
}

func TestEachPassIsToldOnceWhenItHasEnded(t *testing.T) {
	t.Parallel()

	e := engine{}
	a, b := e.add("a", 8, 2), e.add("b", 8, 1)
	one, two := a.Within(t.Context()), a.Within(t.Context())
	f := follow.New(e)

	require.Zero(t, f.Look(e.Health()))

	long := one.Begin(&cause.Begin{})
	end(two.Begin(&cause.Begin{At: 2}))
	end(b.Begin(&cause.Begin{At: 1}))

	news := f.Look(e.Health())
	require.Equal(t, []string{"b1", "a2"}, names(news.Ended), "in the order in which they began")
	require.Equal(t, []string{"a1"}, names(news.Running))

	news = f.Look(e.Health())
	require.Empty(t, news.Ended)
	require.Equal(t, []string{"a1"}, names(news.Running))

	end(long)
	end(two.Begin(&cause.Begin{At: 3}))
	require.Equal(t, []string{"a1", "a3"}, names(f.Look(e.Health()).Ended))

	for range 3 {
		require.Zero(t, f.Look(e.Health()))
	}
}

// What is forgotten between two looks is counted; what was before the first is not.
func TestWhatIsForgottenIsCounted(t *testing.T) {
	t.Parallel()

	e := engine{}
	a := e.add("a", 4, 1)
	f := follow.New(e)

	for range 10 {
		end(a.Begin(&cause.Begin{}))
	}

	news := f.Look(e.Health())
	require.Len(t, news.Ended, 4)
	require.Empty(t, news.Forgotten)

	b := e.add("b", 4, 1)

	for range 10 {
		end(a.Begin(&cause.Begin{}))
		end(b.Begin(&cause.Begin{}))
	}

	news = f.Look(e.Health())
	require.Len(t, news.Ended, 8)
	require.Equal(t, map[string]uint64{"a": 6, "b": 6}, news.Forgotten)
	require.Empty(t, f.Look(e.Health()).Forgotten)
}

func TestControllersComeAndGo(t *testing.T) {
	t.Parallel()

	e := engine{}
	a := e.add("a", 4, 1)
	f := follow.New(e)

	end(a.Begin(&cause.Begin{}))
	end(a.Begin(&cause.Begin{}))
	require.Len(t, f.Look(e.Health()).Ended, 2)

	a = e.add("a", 4, 1) // another one of the name
	end(a.Begin(&cause.Begin{}))
	require.Equal(t, []string{"a1"}, names(f.Look(e.Health()).Ended))

	health := e.Health()
	end(a.Begin(&cause.Begin{}))
	delete(e, "a")
	require.Zero(t, f.Look(health))
	require.Zero(t, f.Look(e.Health()))
}

// Whatever happens when, each pass is told once, or forgotten.
func TestAllPassesAreAccountedFor(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		e := engine{}
		tr := e.add("a", rapid.IntRange(1, 6).Draw(t, "remembered"), 3)
		f := follow.New(e)
		hands := []*cause.Hand{tr.Within(t.Context()), tr.Within(t.Context()), tr.Within(t.Context())}
		open := make([]*cause.Open, len(hands))

		var forgotten, running uint64

		told := map[uint64]bool{}
		look := func() {
			news := f.Look(e.Health())
			forgotten += news.Forgotten["a"]
			running = uint64(len(news.Running))

			for i := range news.Ended {
				require.False(t, told[news.Ended[i].Number])
				told[news.Ended[i].Number] = true
			}
		}

		look() // from here on all are followed

		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch i := rapid.IntRange(0, len(hands)).Draw(t, "step"); {
			case i == len(hands):
				look()
			case open[i] == nil:
				open[i] = hands[i].Begin(&cause.Begin{})
			default:
				end(open[i])
				open[i] = nil
			}
		}

		look()
		require.Equal(t, tr.Count(), uint64(len(told))+forgotten+running)
	})
}

// Passes are told once also while they are made.
func TestPassesAreFollowedWhileTheyAreMade(t *testing.T) {
	const workers, each = 4, 2000

	e := engine{}
	tr := e.add("a", workers*each, workers)
	f := follow.New(e)

	var making sync.WaitGroup

	for range workers {
		making.Go(func() {
			hand := tr.Within(t.Context())
			for range each {
				end(hand.Begin(&cause.Begin{}))
			}
		})
	}

	told := map[uint64]bool{}
	look := func() {
		for _, p := range f.Look(e.Health()).Ended {
			require.False(t, told[p.Number])
			told[p.Number] = true
		}
	}

	for len(told) < workers*each/2 {
		look()
	}

	making.Wait()
	look()
	require.Len(t, told, workers*each)
}
