package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

func always(*lamp) bool { return true }

func TestCasesHaveOneOrder(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		define func(c *operator.Controller[*lamp], s *operator.Scope[*lamp])
		want   string
	}{
		"a chain": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			first := s.Case("First", always, fine)
			s.Case("Third", always, fine, first, s.Case("Second", always, fine, first))
			s.Otherwise(fine)
		}, ""},
		"two that could be asked first": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("Left", always, fine)
			s.Case("Right", always, fine)
			s.Otherwise(fine)
		}, `the cases of scope "mode" have no order: "Left" and "Right" could each be next: say which comes after which`},
		"no Otherwise": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) { s.Case("First", always, fine) },
			`scope "mode" has no Otherwise: say what is done when none of the cases is`},
		"Otherwise twice": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", always, fine)
			s.Otherwise(fine)
			s.Otherwise(fine)
		}, `scope "mode" has Otherwise 2 times: leave one`},
		"no case": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) { s.Otherwise(fine) },
			`scope "mode" has no cases: add one, or use a handler instead`},
		"a case of another scope": {func(c *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			other := c.Scope("other", "Other", s)
			foreign := other.Case("Foreign", always, fine)
			other.Otherwise(fine)
			s.Case("First", always, fine, foreign)
			s.Otherwise(fine)
		}, `case "First" comes after "Foreign", which is a case of scope "other": name one that stands beside it`},
		"a case that is not there yet": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", always, fine, nil)
			s.Otherwise(fine)
		}, `number 1 of what case "First" comes after is nil: make the other case first`},
		"the same name twice": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", always, fine, s.Case("First", always, fine))
			s.Otherwise(fine)
		}, `scope "mode" has two cases called "First": give each a name of its own`},
		"a name that is taken": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("Otherwise", always, fine)
			s.Otherwise(fine)
		}, `a case of scope "mode" is called "Otherwise", which means something else: give it another name`},
		"no question": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", nil, fine)
			s.Otherwise(fine)
		}, `case "First" has no question: say when it is the case`},
		"no handler": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", always, nil)
			s.Otherwise(fine)
		}, `the handler of case "First" is nil: give it a function`},
		"Otherwise without a handler": {func(_ *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			s.Case("First", always, fine)
			s.Otherwise(nil)
		}, "the handler of Otherwise is nil: give it a function"},
		"two scopes of one name": {func(c *operator.Controller[*lamp], s *operator.Scope[*lamp]) {
			other := c.Scope("mode", "Other", s)
			other.Case("First", always, fine)
			other.Otherwise(fine)
			s.Case("First", always, fine)
			s.Otherwise(fine)
		}, `two scopes are called "mode": give each a name of its own`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := operator.For[*lamp]("lamps")
			test.define(c, c.Scope("mode", "Moded"))

			if test.want == "" {
				require.Empty(t, problems(t, c))

				return
			}

			require.Equal(t, []string{test.want}, problems(t, c))
		})
	}
}

// Cases without a scope are held to the same rules.
func TestRootCasesHaveOneOrder(t *testing.T) {
	t.Parallel()

	c := operator.For[*lamp]("lamps")
	c.Case("Left", always, good)
	c.Case("Right", always, good)

	require.Equal(t, []string{
		"the controller has no Otherwise: say what is done when none of the cases is",
		`the cases of the controller have no order: "Left" and "Right" could each be next: say which comes after which`,
	}, problems(t, c))
}

// One case runs: the first that is like this. What it comes to is the condition of its scope, and a wait does not fall through.
func TestFirstCaseThatFitsRuns(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			ask := func(name string, answer func(*lamp) bool) func(*lamp) bool {
				return func(l *lamp) bool {
					d.add(name + "?")
					l.TypedSpec().Watts *= 1000 // it is a copy, and nobody sees that

					return answer(l)
				}
			}
			do := func(name string, err error) operator.StageHandler[*lamp] {
				return func(_ context.Context, l *lamp, _ *operator.StageContext) error {
					require.Less(w, l.TypedSpec().Watts, 1000)
					d.add(name)

					return err
				}
			}

			mode := c.Scope("mode", "Moded")
			isOff := ask("off", func(l *lamp) bool { return l.TypedSpec().Off })
			isDim := ask("dim", func(l *lamp) bool { return l.TypedSpec().Watts < 10_000 })
			isStrange := ask("strange", func(l *lamp) bool { return l.TypedSpec().Watts > 500_000 })

			off := mode.Case("Off", isOff, do("off", operator.Wait("SwitchedOff")))
			dim := mode.Case("Dim", isDim, do("dim", nil), off)
			mode.Case("Strange", isStrange, do("strange", errSecret), off, dim)
			mode.Otherwise(do("otherwise", nil))
			c.Stage("Glowing", do("glow", nil), mode)

			return c
		})

		w.Create(newHeld("a", 5))
		w.Settle()
		require.Equal(w, []string{"off?", "dim?", "dim", "glow"}, d.take())
		require.Equal(w, []string{"Moded True Dim", "Glowing True Reconciled", "Ready True Reconciled"}, said(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Watts = 50 })
		w.Settle()
		require.Equal(w, []string{"off?", "dim?", "strange?", "otherwise", "glow"}, d.take())
		require.Equal(w, []string{"Moded True Otherwise", "Glowing True Reconciled", "Ready True Reconciled"}, said(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Off = true })
		w.Advance(time.Second)
		require.Equal(w, []string{"off?", "off"}, d.take(), "it waits, and no other case is asked")
		require.Equal(w, []string{"Moded False SwitchedOff", "Glowing Unknown DependencyNotReady", "Ready False SwitchedOff"}, said(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Off, s.Watts = false, 900 })
		w.Advance(500 * time.Millisecond)
		require.Equal(w, []string{"off?", "dim?", "strange?", "strange"}, d.take())
		require.Equal(w, []string{"Moded False Error", "Glowing Unknown DependencyNotReady", "Ready False Error"}, said(w, "a"))

		change(w, "a", func(s *lampSpec) { s.Watts = 5 })
		w.Settle()
	})
}

// A question that panics is a failure of its stage: it is tried again, and no case runs meanwhile.
func TestQuestionsThatPanicAreAskedAgain(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			mode := c.Scope("mode", "Moded")
			mode.Case("Off", func(*lamp) bool {
				if d.add("off?") < 2 {
					panic(errSecret)
				}

				return false
			}, fine)
			mode.Otherwise(func(context.Context, *lamp, *operator.StageContext) error {
				d.add("otherwise")

				return nil
			})

			return c
		})

		w.Create(newHeld("a", 1))
		w.Advance(500 * time.Millisecond)
		require.Equal(w, []string{"Moded False Panic", "Ready False Panic"}, said(w, "a"))

		w.Settle()
		require.Equal(w, []time.Duration{0, time.Second, 3 * time.Second, 3 * time.Second}, d.at())
		require.Equal(w, []string{"off?", "off?", "off?", "otherwise"}, d.take())
		require.Equal(w, []string{"Moded True Otherwise", "Ready True Reconciled"}, said(w, "a"))
	})
}

// Cases without a scope say what they have come to through Ready alone, and may save the primary.
func TestRootCasesReportThroughReady(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			c.Mutates()
			c.Case("Off", func(l *lamp) bool { return l.TypedSpec().Off },
				func(context.Context, *lamp, *operator.Context[*lamp]) error { return operator.Wait("SwitchedOff") })
			c.Otherwise(func(_ context.Context, l *lamp, c *operator.Context[*lamp]) error {
				l.TypedSpec().Watts = 7

				return c.Save(l)
			})

			return c
		})

		w.Create(newHeld("a", 1))
		w.Settle()
		require.Equal(w, []string{"Ready True Reconciled"}, said(w, "a"))
		require.Equal(w, 7, controllertest.Get[*lamp](w, newLamp("a", 0).Metadata()).TypedSpec().Watts)

		change(w, "a", func(s *lampSpec) { s.Off = true })
		w.Advance(time.Second)
		require.Equal(w, []string{"Ready False SwitchedOff"}, said(w, "a"))
	})
}
