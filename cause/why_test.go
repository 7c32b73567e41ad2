package cause_test

import (
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/reduced"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pass makes a pass that began some seconds after all begins, and took one.
func pass(name string, number uint64, second int, item string, causes []cause.Cause, writes ...cause.Access) cause.Pass {
	at := began.Add(time.Duration(second) * time.Second)

	return cause.Pass{
		Controller: name, Number: number, Item: key(item), Began: at, Ended: at.Add(time.Second), Outcome: cause.Succeeded,
		Causes: causes, Writes: writes,
	}
}

// nobody may have made a change that is not remembered.
func nobody(string, reduced.Key, reduced.Change) bool { return false }

func wrote(id string, version uint64) cause.Access {
	return cause.Access{Resource: key(id), Verb: "modify", Version: version, Life: 1}
}

func made(id string, from, to uint64, events uint32) cause.Cause {
	c := one(id, from, to, events, reduced.ChangeSpec)
	c.Life = 1

	return c
}

// An answer goes back to what was done from outside.
func TestWhyGoesBackToTheOutside(t *testing.T) {
	t.Parallel()

	first := pass("first", 1, 0, "a", []cause.Cause{made("a", 1, 2, 1)}, wrote("b", 5))
	second := pass("second", 7, 2, "b", []cause.Cause{made("b", 4, 6, 2)}, wrote("c", 1))
	second.Outcome, second.Failure, second.Reasons, second.More = cause.Failed, "no room", cause.Retried, 3

	book := cause.NewBook(map[string][]cause.Pass{"first": {first}, "second": {second}}, nil, nobody)

	require.Equal(t, `second #7 reconcile Hosts(net/b): failed: no room (retry)
  Hosts(net/b) v4 → v6: spec, 1 of 2 from outside
    first #1 reconcile Hosts(net/a): succeeded
      Hosts(net/a) v1 → v2: spec, from outside
  and 3 more changes
`, book.WhyIs(key("c").Pointer())[0].String())
	require.Empty(t, book.WhyIs(key("x").Pointer()))
	require.Equal(t, uint64(7), book.Pass("second", 7).Number)
	require.Nil(t, book.Pass("second", 6))
}

// A pass stands in an answer once.
func TestWhyEndsInCircles(t *testing.T) {
	t.Parallel()

	ping := pass("ping", 4, 2, "b", []cause.Cause{made("b", 1, 2, 1)}, wrote("a", 9))
	pong := pass("pong", 4, 2, "a", []cause.Cause{made("a", 8, 9, 1)}, wrote("b", 2))
	book := cause.NewBook(map[string][]cause.Pass{"ping": {ping}, "pong": {pong}}, nil, nil)

	require.Equal(t, `ping #4 reconcile Hosts(net/b): succeeded
  Hosts(net/b) v1 → v2: spec
    pong #4 reconcile Hosts(net/a): succeeded
      Hosts(net/a) v8 → v9: spec
        ping #4 reconcile Hosts(net/b): succeeded
          which stands above
`, book.Why(book.Pass("ping", 4)).String())
}

// What a call has done that is told no version is on its way for a while: a pass that was for something else may come in between.
func TestWhatWasOnItsWayIsToldApart(t *testing.T) {
	t.Parallel()

	tornDown := one("r", 1, 2, 1, reduced.ChangePhase)
	tearsDown := cause.Access{Resource: key("r"), Verb: "tear down"}
	book := func(between ...cause.Cause) *cause.Book {
		return cause.NewBook(map[string][]cause.Pass{"c": {
			pass("c", 40, 4, "a", []cause.Cause{tornDown}),
			pass("c", 39, 2, "a", between),
			pass("c", 38, 0, "a", []cause.Cause{one("r", 0, 1, 1, reduced.ChangeCreated)}, tearsDown),
		}}, nil, nobody)
	}

	b := book(one("other", 1, 2, 1, reduced.ChangeSpec))
	require.Equal(t, []*cause.Pass{b.Pass("c", 38)}, b.Writers(b.Pass("c", 40), &tornDown).Passes)

	b = book(one("r", 1, 2, 1, reduced.ChangePhase))
	require.Equal(t, cause.Writers{Others: 1}, b.Writers(b.Pass("c", 40), &tornDown), "what was told of already is not told of again")
}

// What nobody remembers to have made was made from outside only if nobody has forgotten since that he has written anything.
func TestWhoIsForgottenMayHaveMadeIt(t *testing.T) {
	t.Parallel()

	before := pass("reader", 1, 0, "a", nil)
	reader := pass("reader", 2, 10, "a", []cause.Cause{made("a", 1, 2, 1)})
	passes := map[string][]cause.Pass{"reader": {reader, before}, "writer": {pass("writer", 50, 11, "w", nil)}}

	for lost, forgotten := range map[time.Duration]bool{-time.Second: false, 5 * time.Second: true} {
		at := map[string]time.Time{"writer": before.Began.Add(lost)}
		book := cause.NewBook(passes, at, nil)

		require.Equal(t, cause.Writers{Others: 1, Forgotten: forgotten}, book.Writers(book.Pass("reader", 2), &reader.Causes[0]))
		require.Equal(t, at["writer"], book.Forgotten("writer"))
		require.False(t, book.Complete("writer"))
		require.True(t, book.Complete("reader"))

		book = cause.NewBook(passes, at, nobody)
		require.Equal(t, cause.Writers{Others: 1}, book.Writers(book.Pass("reader", 2), &reader.Causes[0]))
	}
}

// A change that has waited to be mapped, or for its controller, may have been made before the pass before began.
func TestWhoWasForgottenWhileAChangeWaited(t *testing.T) {
	t.Parallel()

	mapped := made("a", 1, 2, 1)
	mapped.Input = controller.InputQMapped

	before, mapping := pass("reader", 1, 10, "x", nil), pass("reader", 2, 15, "a", []cause.Cause{made("a", 1, 2, 1)})
	mapping.Doing, mapping.Waited = cause.Mapping, 12*time.Second
	reader := pass("reader", 3, 20, "x", []cause.Cause{mapped})
	began := before.Began.Add(-10 * time.Second)

	for name, test := range map[string]struct {
		passes    []cause.Pass
		lost      time.Duration
		forgotten bool
	}{
		"while it waited to be mapped":       {[]cause.Pass{reader, mapping, before}, 5 * time.Second, true},
		"before":                             {[]cause.Pass{reader, mapping, before}, 2 * time.Second, false},
		"the mapping is forgotten":           {[]cause.Pass{reader, before}, 2 * time.Second, true},
		"after the mapping of an older pass": {[]cause.Pass{reader, mapping}, time.Second, true},
	} {
		book := cause.NewBook(map[string][]cause.Pass{"reader": test.passes}, map[string]time.Time{"writer": began.Add(test.lost)}, nil)

		require.Equal(t, cause.Writers{Others: 1, Forgotten: test.forgotten}, book.Writers(&test.passes[0], &mapped), name)
	}

	waited := pass("reader", 2, 20, "x", []cause.Cause{made("x", 1, 2, 1)})
	waited.Waited = 15 * time.Second
	passes := []cause.Pass{waited, before}

	for lost, forgotten := range map[time.Duration]bool{4 * time.Second: false, 6 * time.Second: true} {
		book := cause.NewBook(map[string][]cause.Pass{"reader": passes}, map[string]time.Time{"writer": began.Add(lost)}, nil)
		require.Equal(t, forgotten, book.Writers(&passes[0], &waited.Causes[0]).Forgotten)
	}
}

// Who makes many passes that come to nothing does not forget what he has done before.
func TestPassesThatHaveWrittenAreRememberedLonger(t *testing.T) {
	t.Parallel()

	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tr := cause.New(cause.Config{Controller: "c", Passes: 4})
	tr.From(epoch)

	make := func(from, to int, writes bool) {
		for i := from; i <= to; i++ {
			o := tr.Begin(&cause.Begin{At: time.Duration(i) * time.Minute})
			if writes {
				o.Wrote("modify", key("w").Pointer(), uint64(i), 1)
			}

			o.End(time.Duration(i)*time.Minute, cause.Succeeded, nil, 0)
		}
	}

	numbers := func() (numbers []uint64) {
		for _, p := range tr.Passes() {
			numbers = append(numbers, p.Number)
		}

		return numbers
	}

	make(1, 2, true)
	make(3, 100, false)
	require.Equal(t, []uint64{100, 99, 2, 1}, numbers())
	require.Zero(t, tr.Lost())

	make(101, 102, true)
	require.Equal(t, []uint64{102, 101, 100, 99}, numbers())
	require.Equal(t, epoch.Add(2*time.Minute), tr.Lost())

	make(103, 110, true)
	require.Equal(t, []uint64{110, 109, 108, 107}, numbers())

	make(111, 111, false)
	require.Equal(t, []uint64{111, 110, 109, 108}, numbers())
	require.Equal(t, epoch.Add(107*time.Minute), tr.Lost())
}

// A version is made once in each life of an id: what was written in another one is not the cause.
func TestLivesAreToldApart(t *testing.T) {
	t.Parallel()

	old := pass("writer", 1, 0, "w", nil, cause.Access{Resource: key("a"), Verb: "modify", Version: 2, Life: 7})
	reader := pass("reader", 1, 2, "a", []cause.Cause{made("a", 1, 2, 1)})
	book := cause.NewBook(map[string][]cause.Pass{"writer": {old}, "reader": {reader}}, nil, nil)

	require.Equal(t, 1, book.Writers(&reader, &reader.Causes[0]).Others)
}
