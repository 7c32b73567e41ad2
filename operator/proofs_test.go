package operator_test

import (
	"context"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// complete is a controller of stages and cases with a child and a status, as people write them.
func complete() *operator.Controller[*lamp] {
	c, glows := lit()
	operator.Owns[*bulb](c)

	screwed := c.Scope("screwed", "Screwed")
	off := screwed.Case("Off", func(l *lamp) bool { return l.TypedSpec().Off },
		func(ctx context.Context, _ *lamp, c *operator.StageContext) error {
			c.Event("SwitchedOff", "")

			return operator.Prune[*bulb](ctx, c)
		})
	screwed.Case("NoPower", func(l *lamp) bool { return l.TypedSpec().Watts == 0 },
		func(context.Context, *lamp, *operator.StageContext) error {
			return operator.Wait("NoPower", operator.After(time.Hour))
		}, off)
	screwed.Otherwise(func(ctx context.Context, l *lamp, c *operator.StageContext) error {
		return operator.Ensure(ctx, c, &bulb{}, func(b *bulb) { b.TypedSpec().Watts = l.TypedSpec().Watts })
	})

	c.Stage("Glowing", func(ctx context.Context, l *lamp, c *operator.StageContext) error {
		b, err := operator.Get[*bulb](ctx, c, l.Metadata().ID())
		if err != nil && !state.IsNotFoundError(err) {
			return err
		}

		glows.Set(c, func(g *glow) {
			if g.Lumen = 0; err == nil {
				g.Lumen = b.TypedSpec().Watts * 10
			}
		})

		return nil
	}, screwed)

	return c
}

// What comes of stages and cases does not depend on the order of things, on crashes, or on what fails in between, and what is
// done is not done again.
func TestReportsComeToTheSame(t *testing.T) {
	script := func(w *controllertest.World) {
		w.Compare(essential)
		light(w, complete)

		w.Create(newLamp("a", 1), newLamp("b", 0))
		w.Settle()
		change(w, "a", func(s *lampSpec) { s.Off = true })
		change(w, "b", func(s *lampSpec) { s.Watts = 2 })
		w.Settle()
		w.Destroy(newLamp("a", 0).Metadata())
		change(w, "b", func(s *lampSpec) { s.Watts = 3 })
		w.Settle()

		require.Equal(w, []string{"Screwed True Otherwise", "Glowing True Reconciled", "Ready True Reconciled"}, said(w, "b"))
		require.Equal(w, 30, status(w, "b").Data.Lumen)
		controllertest.Gone(w, newLamp("a", 0).Metadata())
		controllertest.Gone(w, statusOf("a"))
		controllertest.Gone(w, newBulb("a", 0).Metadata())
	}

	t.Run("whatever crashes", func(t *testing.T) { controllertest.CrashSweep(t, script) })
	t.Run("woken again", func(t *testing.T) { controllertest.AssertIdempotent(t, script) })
	t.Run("in any order", func(t *testing.T) { controllertest.Confluent(t, 30, script) })
	t.Run("whatever fails", func(t *testing.T) {
		controllertest.Explore(t, controllertest.Plan{Seeds: 60, Faults: controllertest.Storm()}, script)
	})
}

// What Build returns is a controller like any other: it runs on every engine of the contract.
func TestControllersRunOnAnyEngine(t *testing.T) {
	t.Parallel()

	for name, make := range map[string]func(state.State) (controller.Engine, error){
		"ours": func(st state.State) (controller.Engine, error) {
			return runtime.New(st, zap.NewNop(), runtime.Config{})
		},
		"the contract's": func(st state.State) (controller.Engine, error) { return peer.NewRuntime(st, zap.NewNop()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := state.WrapCore(generation.Wrap(namespaced.NewState(inmem.Build), generation.Config{Types: []resource.Type{lampType}}))

			engine, err := make(st)
			require.NoError(t, err)
			require.NoError(t, operator.Register(engine, complete()))

			ctx, cancel := context.WithCancel(t.Context())
			ended := runs(ctx, engine)

			require.NoError(t, st.Create(ctx, newLamp("a", 7)))

			ready := func(res resource.Resource) (bool, error) {
				spec := res.(*lampStatus).TypedSpec()

				return spec.Conditions.Holds(operator.Ready) && spec.Data.Lumen == 70, nil
			}

			_, err = st.WatchFor(ctx, statusOf("a"), state.WithEventTypes(state.Created, state.Updated), state.WithCondition(ready))
			require.NoError(t, err)

			_, err = st.Teardown(ctx, newLamp("a", 0).Metadata())
			require.NoError(t, err)

			_, err = st.WatchFor(ctx, newLamp("a", 0).Metadata(), state.WithEventTypes(state.Destroyed))
			require.NoError(t, err)

			cancel()
			require.NoError(t, <-ended)
		})
	}
}

// runs runs an engine and returns what tells its end.
func runs(ctx context.Context, engine controller.Engine) <-chan error {
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	return ended
}
