package operator_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// problems returns what Build says against a definition.
func problems(t *testing.T, c *operator.Controller[*lamp]) []string {
	t.Helper()

	_, err := c.Build()
	if err == nil {
		return nil
	}

	wrong, ok := errors.AsType[*operator.DefinitionError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, c.Name(), wrong.Controller)

	return wrong.Problems
}

// What is wrong with stages is told before anything runs: there is no engine here, and no state.
func TestStagesHaveOneOrder(t *testing.T) {
	t.Parallel()

	other := operator.For[*lamp]("other").Stage("Elsewhere", fine)

	for name, test := range map[string]struct {
		define func(c *operator.Controller[*lamp])
		want   string
	}{
		"a chain": {func(c *operator.Controller[*lamp]) {
			first := c.Stage("First", fine)
			c.Stage("Third", fine, c.Stage("Second", fine, first))
		}, ""},
		"several at once": {func(c *operator.Controller[*lamp]) {
			first := c.Stage("First", fine)
			c.Stage("Third", fine, first, c.Stage("Second", fine, first))
		}, ""},
		"a scope in between": {func(c *operator.Controller[*lamp]) {
			scope := c.Scope("scope", "Second", c.Stage("First", fine))
			scope.Case("Off", func(*lamp) bool { return true }, fine)
			scope.Otherwise(fine)
			c.Stage("Third", fine, scope)
		}, ""},
		"two that are ready at once": {func(c *operator.Controller[*lamp]) {
			first := c.Stage("First", fine)
			c.Stage("Left", fine, first)
			c.Stage("Right", fine, first)
		}, `its stages have no order: "Left" and "Right" could each be next: say which comes after which`},
		"two without a word on their order, in whatever order": {func(c *operator.Controller[*lamp]) {
			c.Stage("Right", fine)
			c.Stage("Left", fine)
		}, `its stages have no order: "Right" and "Left" could each be next: say which comes after which`},
		"a stage of another controller": {func(c *operator.Controller[*lamp]) { c.Stage("First", fine, other) },
			`stage "First" comes after "Elsewhere" of controller "other": name a stage of this controller`},
		"a stage that is not there yet": {func(c *operator.Controller[*lamp]) {
			var later *operator.Stage

			c.Stage("First", fine, later)
		}, `number 1 of what stage "First" comes after is nil: make the other stage first`},
		"a scope that is not there": {func(c *operator.Controller[*lamp]) {
			var later *operator.Scope[*lamp]

			c.Stage("First", fine, later)
		}, `number 1 of what stage "First" comes after is nil: make the other stage first`},
		"the same condition twice": {func(c *operator.Controller[*lamp]) { c.Stage("First", fine, c.Stage("First", fine)) },
			`two stages report "First": give each a condition of its own`},
		"a scope beside the stage that it was to replace": {func(c *operator.Controller[*lamp]) {
			scope := c.Scope("scope", "First", c.Stage("First", fine))
			scope.Case("Off", func(*lamp) bool { return true }, fine)
			scope.Otherwise(fine)
		}, `two stages report "First": give each a condition of its own`},
		"Ready": {func(c *operator.Controller[*lamp]) { c.Stage("Ready", fine) },
			`a stage reports "Ready", which sums up all stages: give it another name`},
		"a condition that is no word": {func(c *operator.Controller[*lamp]) { c.Stage("not a word", fine) },
			`condition "not a word" is no word: begin with a letter, go on with letters, digits and '_', at most 128`},
		"no handler": {func(c *operator.Controller[*lamp]) { c.Stage("First", nil) },
			`the handler of stage "First" is nil: give it a function`},
		"stages beside a handler": {func(c *operator.Controller[*lamp]) {
			c.Stage("First", fine)
			c.Reconcile(good)
		}, "it has Reconcile and stages: choose one of them"},
		"stages beside cases": {func(c *operator.Controller[*lamp]) {
			c.Stage("First", fine)
			c.Case("Off", func(*lamp) bool { return true }, good)
			c.Otherwise(good)
		}, "it has stages and cases: choose one of them"},
		"stages that are to save": {func(c *operator.Controller[*lamp]) { c.Mutates().Stage("First", fine) },
			"Mutates is of no use with stages, which can not save the primary: leave it out, or use Reconcile or cases"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := operator.For[*lamp]("lamps")
			test.define(c)

			if test.want == "" {
				require.Empty(t, problems(t, c))

				return
			}

			require.Equal(t, []string{test.want}, problems(t, c))
			require.Equal(t, []string{test.want}, problems(t, c), "it is told again")
		})
	}
}

// A step that comes after itself needs a handle that is used before it is returned, so a cycle can be written down nowhere; what
// looks like one is a handle of nothing.
func TestStagesInACycleCanNotBeWritten(t *testing.T) {
	t.Parallel()

	var first, second *operator.Stage

	c := operator.For[*lamp]("lamps")
	first = c.Stage("First", fine, second)
	second = c.Stage("Second", fine, first)
	_ = c.Stage("Third", fine, second)

	require.Equal(t, []string{`number 1 of what stage "First" comes after is nil: make the other stage first`}, problems(t, c))
}

// All mistakes are told at once.
func TestAllMistakesAreTold(t *testing.T) {
	t.Parallel()

	c := operator.For[*lamp]("")
	c.Stage("Ready", nil)
	c.Every(0)

	require.Len(t, problems(t, c), 4)

	_, err := c.Build()
	require.ErrorContains(t, err, "operator: controller \"\": 4 mistakes:\n\t")
}

// What is not allowed here can not be written, so there is no mistake to be told: a stage can not save the primary nor return
// anything but an error, a case has nothing to which a stage or a case could be added, and a question answers yes or no.
func TestWhatTypesDoNotAllow(t *testing.T) {
	t.Parallel()

	_, saves := reflect.TypeFor[*operator.StageContext]().MethodByName("Save")
	require.False(t, saves)

	_, saves = reflect.TypeFor[*operator.Context[*lamp]]().MethodByName("Save")
	require.True(t, saves)

	handler := reflect.TypeFor[operator.StageHandler[*lamp]]()
	require.Equal(t, 1, handler.NumOut())
	require.Equal(t, reflect.TypeFor[error](), handler.Out(0))

	require.Zero(t, reflect.TypeFor[*operator.Case]().NumMethod())

	scope := reflect.TypeFor[*operator.Scope[*lamp]]()
	require.Equal(t, 2, scope.NumMethod(), "Case and Otherwise")

	add, _ := scope.MethodByName("Case")
	question := add.Type.In(2)
	require.Equal(t, "func(*typed.Resource", question.String()[:len("func(*typed.Resource")])
	require.Equal(t, reflect.TypeFor[bool](), question.Out(0))
	require.Equal(t, 1, question.NumOut())
}

// Stages run one after the other, whatever the order in which they were written down, and report what they have come to: one
// condition each, and one for all.
func TestStagesRunOneAfterTheOther(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		d := newDiary(w)

		var second func() error

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			stage := func(name string) operator.StageHandler[*lamp] {
				return func(context.Context, *lamp, *operator.StageContext) error {
					d.add(name)

					if name == "Second" {
						return second()
					}

					return nil
				}
			}

			first := c.Stage("First", stage("First"))
			c.Stage("Third", stage("Third"), c.Stage("Second", stage("Second"), first))

			return c
		})

		second = func() error {
			return operator.Wait("Warming", operator.After(time.Minute), operator.Message("%d to go", 3))
		}

		w.Create(newHeld("a", 1))
		w.Advance(time.Second)
		require.Equal(w, []string{"First", "Second"}, d.take(), "nothing runs after what waits")
		require.Equal(w, []string{
			"First True Reconciled", "Second False Warming", "Third Unknown DependencyNotReady", "Ready False Warming",
		}, said(w, "a"))

		ready, _ := status(w, "a").Conditions.Get(operator.Ready)
		require.Equal(w, "3 to go", ready.Message)

		third, _ := status(w, "a").Conditions.Get("Third")
		require.Equal(w, "waits for Second", third.Message)

		second = func() error { return errSecret }

		w.Advance(time.Minute)
		require.Equal(w, []string{"First", "Second"}, d.take()[:2], "nothing runs after what fails")
		require.Equal(w, []string{
			"First True Reconciled", "Second False Error", "Third Unknown DependencyNotReady", "Ready False Error",
		}, said(w, "a"))

		second = func() error { return nil }

		w.Settle()
		d.take()
		require.Equal(w, []string{
			"First True Reconciled", "Second True Reconciled", "Third True Reconciled", "Ready True Reconciled",
		}, said(w, "a"))

		// Nothing is remembered: what has gone well runs again, and so it does in another process.
		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()
		require.Equal(w, []string{"First", "Second", "Third"}, d.take())

		w.Restart()
		w.Settle()
		require.Equal(w, []string{"First", "Second", "Third"}, d.take())
	})
}

// A stage reads what the one before it has written, though the kind is cached and the cache has not heard of it.
func TestStagesReadWhatTheStageBeforeHasWritten(t *testing.T) {
	controllertest.Explore(t, controllertest.Plan{Seeds: 20}, func(w *controllertest.World) {
		d := newDiary(w)

		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			operator.Owns[*bulb](c)

			screwed := c.Stage("Screwed", func(ctx context.Context, l *lamp, c *operator.StageContext) error {
				return operator.Ensure(ctx, c, &bulb{}, func(b *bulb) { b.TypedSpec().Watts = l.TypedSpec().Watts })
			})
			c.Stage("Bright", func(ctx context.Context, l *lamp, c *operator.StageContext) error {
				b, err := operator.Get[*bulb](ctx, c, l.Metadata().ID())
				if err == nil && b.TypedSpec().Watts != l.TypedSpec().Watts {
					d.add("it is an old bulb")
				}

				return err
			}, screwed)

			return c
		})

		w.Create(newHeld("a", 1))
		change(w, "a", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()
		change(w, "a", func(s *lampSpec) { s.Watts = 3 })
		w.Settle()
		require.Empty(w, d.take())
		require.True(w, status(w, "a").Conditions.Holds(operator.Ready))
	})
}
