package operator_test

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"
)

// everything is a definition that has each kind of input and output.
func everything() *operator.Controller[*site] {
	c := operator.For[*site]("sites").Mutates().Reconcile(handle)
	operator.Owns[*page](c)
	operator.Owns[*page](c, operator.InNamespace("other"))
	operator.Owns[*doc](c, operator.Shared())
	operator.Watch(c, nobody)
	operator.Status[seen, statusExtension](c)

	return c
}

// unreachable is a state that can not be called at all.
type unreachable struct{ state.CoreState }

// To define, check and register controllers takes no state: none has to be within reach.
func TestRegistrationNeedsNoState(t *testing.T) {
	t.Parallel()

	engine, err := runtime.New(state.WrapCore(unreachable{}), zap.NewNop(), runtime.Config{})
	require.NoError(t, err)
	require.NoError(t, operator.Register(engine, everything()))

	app := operator.NewApp(operator.AppConfig{State: unreachable{}})
	require.NoError(t, app.Include(everything()))
	require.NoError(t, app.Check())

	foreseen, err := app.Graph()
	require.NoError(t, err)

	registered, err := engine.GetDependencyGraph()
	require.NoError(t, err)

	var edges []controller.DependencyEdge

	for _, edge := range registered.Edges {
		if edge.ControllerName == "sites" {
			edges = append(edges, edge)
		}
	}

	require.ElementsMatch(t, edges, foreseen.Edges, "what is foreseen is what is registered")
}

// What operators share is registered once, however many calls they are registered in. An engine that does not say that a name is
// taken refuses it, and the error says what to do.
func TestOperatorsShareWhatIsRegisteredOnce(t *testing.T) {
	t.Parallel()

	engine, err := runtime.New(state.WrapCore(unreachable{}), zap.NewNop(), runtime.Config{})
	require.NoError(t, err)
	require.NoError(t, operator.Register(engine, reconciled(), operator.For[*site]("others").Reconcile(handle)))
	require.NoError(t, operator.Register(engine, operator.For[*site]("late").Reconcile(handle)))

	other, err := peer.NewRuntime(state.WrapCore(unreachable{}), zap.NewNop())
	require.NoError(t, err)
	require.NoError(t, operator.Register(other, reconciled()))
	require.ErrorContains(t, operator.Register(other, operator.For[*site]("late").Reconcile(handle)),
		`registering controller "Destroy[`+siteType+`]", which is there once for all operators: give all of an engine to one Register: `)
}

// If an engine refuses an operator, none of the call stays.
func TestRegistrationIsAllOrNothing(t *testing.T) {
	t.Parallel()

	engine, err := runtime.New(state.WrapCore(unreachable{}), zap.NewNop(), runtime.Config{})
	require.NoError(t, err)
	require.NoError(t, operator.Register(engine, operator.For[*site]("first").Reconcile(handle)))

	before, err := engine.GetDependencyGraph()
	require.NoError(t, err)

	err = operator.Register(engine, define("sites").Reconcile(handle), operator.For[*site]("first").Reconcile(handle))
	require.ErrorIs(t, err, dependency.ErrNameTaken)

	after, err := engine.GetDependencyGraph()
	require.NoError(t, err)
	require.ElementsMatch(t, before.Edges, after.Edges)
}

// Definitions that are there and not included are in no program.
func TestNothingIsIncludedByItself(t *testing.T) {
	t.Parallel()

	define("others").Reconcile(handle)

	app := operator.NewApp(operator.AppConfig{})

	graph, err := app.Graph()
	require.NoError(t, err)
	require.Empty(t, graph.Edges)

	require.NoError(t, app.Include(reconciled().WithoutEvents()))

	graph, err = app.Graph()
	require.NoError(t, err)
	require.Equal(t, []controller.DependencyEdge{
		{ControllerName: "sites", ResourceNamespace: ns, ResourceType: siteType, EdgeType: controller.EdgeInputQPrimary},
	}, graph.Edges)
}

// lifespan notes when it is entered and left.
func lifespan(j *journal, name string, enter, leave error) operator.Lifespan {
	return func(context.Context) (func(context.Context) error, error) {
		j.note("enters %s", name)

		return func(ctx context.Context) error {
			j.note("leaves %s, %v", name, ctx.Err())

			return leave
		}, enter
	}
}

// An app has all that its controllers need: a state, an engine with retries, what is there while it runs, and its end.
func TestAppOwnsTheProgram(t *testing.T) {
	var j journal

	failed := false
	app := operator.NewApp(operator.AppConfig{})

	for _, name := range []string{"one", "two"} {
		require.NoError(t, app.Lifespan(lifespan(&j, name, nil, nil)))
	}

	c := sites()
	operator.Owns[*page](c)
	c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
		if !failed {
			failed = true

			return errors.New("the first time")
		}

		return operator.Ensure(ctx, c, &page{}, nil)
	})
	require.NoError(t, app.Include(c))

	st := app.State()
	require.NoError(t, st.Create(t.Context(), newSite("a", "")))

	ended := make(chan error, 1)

	go func() { ended <- app.Run(context.WithoutCancel(t.Context())) }()

	_, err := st.WatchFor(t.Context(), newPage("a").Metadata(), state.WithEventTypes(state.Created))
	require.NoError(t, err)
	require.Equal(t, []string{"enters one", "enters two"}, j.taken())

	_, err = st.Teardown(t.Context(), newSite("a", "").Metadata())
	require.NoError(t, err)
	_, err = st.WatchFor(t.Context(), newSite("a", "").Metadata(), state.WithEventTypes(state.Destroyed))
	require.NoError(t, err)

	_, err = st.Get(t.Context(), newPage("a").Metadata())
	require.True(t, state.IsNotFoundError(err))

	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(syscall.SIGTERM))
	require.NoError(t, <-ended)
	require.Equal(t, []string{"leaves two, <nil>", "leaves one, <nil>"}, j.taken())
}

// A lifespan that can not be entered ends the program, and those before it are left. What goes wrong while one is left is told, and
// keeps the others from nothing.
func TestLifespansThatFail(t *testing.T) {
	t.Parallel()

	var j journal

	errEnter, errLeave := errors.New("no door"), errors.New("no exit")
	app := operator.NewApp(operator.AppConfig{})

	for _, enter := range []operator.Lifespan{
		lifespan(&j, "one", nil, errLeave),
		func(context.Context) (func(context.Context) error, error) { return nil, nil },
		func(context.Context) (func(context.Context) error, error) {
			return func(context.Context) error { panic("stuck") }, nil
		},
		lifespan(&j, "two", nil, nil),
		lifespan(&j, "three", errEnter, nil),
		lifespan(&j, "four", nil, nil),
	} {
		require.NoError(t, app.Lifespan(enter))
	}

	require.NoError(t, app.Include(sites().Reconcile(noting(&j))))
	require.NoError(t, app.State().Create(t.Context(), newSite("a", "")))

	err := app.Run(t.Context())
	require.ErrorIs(t, err, errEnter)
	require.ErrorIs(t, err, errLeave)
	require.ErrorContains(t, err, "entering lifespan 5")
	require.ErrorContains(t, err, "stuck")
	require.Equal(t, []string{"enters one", "enters two", "enters three", "leaves two, <nil>", "leaves one, <nil>"}, j.taken())
}

// What a lifespan takes to be left is bounded by its context.
func TestLeavingIsBounded(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	app := operator.NewApp(operator.AppConfig{Leave: time.Millisecond})

	require.NoError(t, app.Lifespan(func(context.Context) (func(context.Context) error, error) {
		cancel()

		return func(ctx context.Context) error {
			<-ctx.Done()

			return ctx.Err()
		}, nil
	}))
	require.ErrorIs(t, app.Run(ctx), context.DeadlineExceeded)
}

// The watches of a definition work on the contract's own engine as well, which maps nothing but what is there now.
func TestWatchesOnTheContractsEngine(t *testing.T) {
	t.Parallel()

	st := state.WrapCore(stampedSites(namespaced.NewState(inmem.Build)))

	engine, err := peer.NewRuntime(st, zap.NewNop())
	require.NoError(t, err)

	c := sites()
	operator.Owns[*page](c)
	operator.Watch(c, func(s *secret) []resource.ID { return s.TypedSpec().Sites })
	c.Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
		secrets, err := operator.List[*secret](ctx, c)
		if err != nil {
			return err
		}

		text := ""

		for _, secret := range secrets {
			for _, id := range secret.TypedSpec().Sites {
				if id == s.Metadata().ID() {
					text += secret.Metadata().ID()
				}
			}
		}

		return operator.Ensure(ctx, c, &page{}, func(p *page) { p.TypedSpec().Text = text })
	})
	require.NoError(t, operator.Register(engine, c))

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() { ended <- engine.Run(ctx) }()

	says := func(id resource.ID, text string) {
		t.Helper()

		_, err := st.WatchFor(ctx, newPage(id).Metadata(), state.WithCondition(func(res resource.Resource) (bool, error) {
			p, ok := res.(*page)

			return ok && p.TypedSpec().Text == text, nil
		}))
		require.NoError(t, err)
	}

	require.NoError(t, st.Create(ctx, newSecret("s", "a")))
	require.NoError(t, st.Create(ctx, newSite("a", "")))
	require.NoError(t, st.Create(ctx, newSite("b", "")))
	says("a", "s")
	says("b", "")

	moved, err := st.Get(ctx, newSecret("s").Metadata())
	require.NoError(t, err)

	moved.(*secret).TypedSpec().Sites = []string{"b"}
	require.NoError(t, st.Update(ctx, moved))
	says("b", "s")
	says("a", "")

	require.NoError(t, st.Destroy(ctx, newPage("a").Metadata(), state.WithDestroyOwner("sites")))
	says("a", "")

	cancel()
	require.NoError(t, <-ended)
}

// A function that registers other controllers may use the app.
func TestRegisteringWithTheStateOfTheApp(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	app := operator.NewApp(operator.AppConfig{})

	require.NoError(t, app.Register(func(controller.Engine) error {
		defer cancel()

		require.ErrorIs(t, app.Include(), operator.ErrStarted)

		return app.State().Create(ctx, newSite("a", ""))
	}))
	require.NoError(t, app.Run(ctx))
}

// distant is a state that is within reach once somebody has seen to it.
type distant struct {
	state.CoreState

	within *bool
}

func (d distant) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	if !*d.within {
		return errors.New("nobody answers")
	}

	return d.CoreState.Create(ctx, res, opts...)
}

// A lifespan may be what brings the state within reach.
func TestLifespansComeBeforeTheState(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	within := false
	app := operator.NewApp(operator.AppConfig{State: distant{namespaced.NewState(inmem.Build), &within}})

	require.NoError(t, app.Lifespan(func(context.Context) (func(context.Context) error, error) {
		within = true

		return nil, nil
	}))

	st := app.State()
	ended := make(chan error, 1)

	go func() { ended <- app.Run(ctx) }()

	_, err := st.WatchFor(ctx, resource.NewMetadata(meta.NamespaceName, meta.ResourceDefinitionType, "events.switchyard.run", resource.VersionUndefined),
		state.WithEventTypes(state.Created))
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
}
