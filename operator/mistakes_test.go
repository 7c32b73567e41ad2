package operator_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/operator"
)

var update = flag.Bool("update", false, "write the documents in testdata anew")

// Handlers, questions and mappers of definitions that never run.
func handle(context.Context, *site, *operator.Context[*site]) error    { return nil }
func handleStage(context.Context, *site, *operator.StageContext) error { return nil }
func is(*site) bool                                                    { return true }
func nobody(*secret) []resource.ID                                     { return nil }
func define(name string) *operator.Controller[*site]                   { return operator.For[*site](name) }
func reconciled() *operator.Controller[*site]                          { return define("sites").Reconcile(handle) }
func bareSites() *operator.Controller[*site]                           { return define("sites") }

type (
	bareExtension      struct{}
	placelessExtension struct{}
	otherExtension     struct{}
)

func (bareExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{}
}

func (placelessExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Placeless.test.switchyard.run"}
}

func (otherExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Others.test.switchyard.run", DefaultNamespace: "other"}
}

// curious looks at itself to say what it is.
type curious struct{ site }

func (c *curious) ResourceDefinition() meta.ResourceDefinitionSpec {
	return described(c.Metadata().Type())
}

type (
	bare      = typed.Resource[siteSpec, bareExtension]
	placeless = typed.Resource[siteSpec, placelessExtension]
	other     = typed.Resource[siteSpec, otherExtension]
)

// mistakes are definitions that are wrong, each with what is wrong about it.
func mistakes() []mistake {
	return []mistake{
		// Names.
		{"no name", define("").Reconcile(handle)},
		{"a name with a space", define("my sites").Reconcile(handle)},
		{"a name that is too long", define(strings.Repeat("long", 33)).Reconcile(handle)},

		// What runs.
		{"nothing runs", define("sites")},
		{"a handler and stages", changed(reconciled(), func(c *operator.Controller[*site]) { c.Stage("A", handleStage) })},
		{"a handler and cases", reconciled().Otherwise(handle)},
		{"stages and cases", changed(bareSites(), func(c *operator.Controller[*site]) {
			c.Stage("A", handleStage)
			c.Case("B", is, handle)
			c.Otherwise(handle)
		})},
		{"all three", changed(reconciled(), func(c *operator.Controller[*site]) {
			c.Stage("A", handleStage)
			c.Case("B", is, handle)
			c.Otherwise(handle)
		})},
		{"two handlers", reconciled().Reconcile(handle)},
		{"no handler", define("sites").Reconcile(nil)},

		// Stages.
		{"a stage without a handler", changed(bareSites(), func(c *operator.Controller[*site]) { c.Stage("A", nil) })},
		{"a stage whose name is no word", changed(bareSites(), func(c *operator.Controller[*site]) { c.Stage("a stage", handleStage) })},
		{"a stage without a name", changed(bareSites(), func(c *operator.Controller[*site]) { c.Stage("", handleStage) })},
		{"a stage that reports Ready", changed(bareSites(), func(c *operator.Controller[*site]) { c.Stage(operator.Ready, handleStage) })},
		{"two stages of one name", changed(bareSites(), func(c *operator.Controller[*site]) {
			c.Stage("A", handleStage, c.Stage("A", handleStage))
		})},
		{"stages without an order", changed(bareSites(), func(c *operator.Controller[*site]) {
			a := c.Stage("A", handleStage)
			c.Stage("B", handleStage, a)
			c.Stage("C", handleStage, a)
		})},
		{"a stage after nothing", changed(bareSites(), func(c *operator.Controller[*site]) {
			var missing *operator.Stage

			c.Stage("A", handleStage, nil, missing)
		})},
		{"a stage after one of another controller", changed(bareSites(), func(c *operator.Controller[*site]) {
			c.Stage("A", handleStage, define("others").Stage("B", handleStage))
		})},
		{"Mutates with stages", changed(bareSites().Mutates(), func(c *operator.Controller[*site]) { c.Stage("A", handleStage) })},

		// Scopes and cases.
		{"a scope without cases", changed(bareSites(), func(c *operator.Controller[*site]) {
			c.Scope("pages", "PagesReady").Otherwise(handleStage)
		})},
		{"a scope without Otherwise", changed(bareSites(), func(c *operator.Controller[*site]) {
			c.Scope("pages", "PagesReady").Case("Empty", is, handleStage)
		})},
		{"a scope whose name is no word", changed(bareSites(), func(c *operator.Controller[*site]) {
			s := c.Scope("1st", "PagesReady")
			s.Case("Empty", is, handleStage)
			s.Otherwise(handleStage)
		})},
		{"two scopes of one name", changed(bareSites(), func(c *operator.Controller[*site]) {
			for _, condition := range []string{"A", "B"} {
				s := c.Scope("pages", condition)
				s.Case("Empty", is, handleStage)
				s.Otherwise(handleStage)
			}
		})},
		{"cases without Otherwise", changed(define("sites"), func(c *operator.Controller[*site]) { c.Case("Empty", is, handle) })},
		{"Otherwise without cases", define("sites").Otherwise(handle)},
		{"Otherwise twice", withCases().Otherwise(handle)},
		{"Otherwise without a handler", changed(define("sites"), func(c *operator.Controller[*site]) {
			c.Case("Empty", is, handle)
			c.Otherwise(nil)
		})},
		{"a case without a question", changed(withCases(), func(c *operator.Controller[*site]) {
			c.Case("Full", nil, handle, c.Case("Large", is, handle))
		})},
		{"a case without a handler", changed(define("sites").Otherwise(handle), func(c *operator.Controller[*site]) { c.Case("Full", is, nil) })},
		{"a case whose name is no word", changed(define("sites").Otherwise(handle), func(c *operator.Controller[*site]) { c.Case("is-full", is, handle) })},
		{"a case called Otherwise", changed(define("sites").Otherwise(handle), func(c *operator.Controller[*site]) { c.Case("Otherwise", is, handle) })},
		{"two cases of one name", changed(define("sites").Otherwise(handle), func(c *operator.Controller[*site]) {
			c.Case("Full", is, handle, c.Case("Full", is, handle))
		})},
		{"cases without an order", changed(withCases(), func(c *operator.Controller[*site]) { c.Case("Full", is, handle) })},
		{"a case after nothing", changed(define("sites").Otherwise(handle), func(c *operator.Controller[*site]) { c.Case("Full", is, handle, nil) })},
		{"a case after one of another scope", changed(bareSites(), func(c *operator.Controller[*site]) {
			one := c.Scope("one", "A")
			first := one.Case("First", is, handleStage)
			one.Otherwise(handleStage)

			two := c.Scope("two", "B", one)
			two.Case("Second", is, handleStage, first)
			two.Otherwise(handleStage)
		})},

		// Finalizers.
		{"two finalizers", reconciled().Finalize("example.com/a", handleStage).Finalize("example.com/b", handleStage)},
		{"a finalizer without a name", reconciled().Finalize("", handleStage)},
		{"a finalizer without a handler", reconciled().Finalize("example.com/a", nil)},

		// The primary.
		{"a primary without a type", operator.For[*bare]("sites").Reconcile(func(context.Context, *bare, *operator.Context[*bare]) error { return nil })},
		{"a primary that can not be asked for its type", operator.For[*curious]("sites").Reconcile(
			func(context.Context, *curious, *operator.Context[*curious]) error { return nil })},
		{"a primary without a namespace", operator.For[*placeless]("sites").Reconcile(
			func(context.Context, *placeless, *operator.Context[*placeless]) error { return nil })},
		{"events as the primary", operator.For[*operator.EventResource]("sites").Reconcile(
			func(context.Context, *operator.EventResource, *operator.Context[*operator.EventResource]) error {
				return nil
			})},

		// Other kinds.
		{"a watched kind without a mapper", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Watch[*secret](c, nil) })},
		{"a watched kind without a namespace", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Watch(c, operator.SameID[*placeless])
		})},
		{"a watched kind that is shared", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Watch(c, nobody, operator.Shared())
		})},
		{"events as a watched kind", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Watch(c, operator.SameID[*operator.EventResource])
		})},
		{"a kind that is watched twice", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Watch(c, nobody)
			operator.Watch(c, nobody)
		})},
		{"a kind that is owned twice", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Owns[*page](c)
			operator.Owns[*page](c)
		})},
		{"a watched kind that nobody names", changed(reconciled(), func(c *operator.Controller[*site]) { operator.WatchNamed[*secret](c, nil) })},
		{"the primary as a watched kind", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Watch(c, operator.SameID[*site]) })},
		{"the primary as an owned kind", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*site](c) })},
		{"the type of the primary as an owned kind elsewhere", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Owns[*site](c, operator.InNamespace("other"))
		})},
		{"an owned kind in another namespace", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*other](c) })},
		{"an owned kind in no namespace", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Owns[*page](c, operator.InNamespace(""))
		})},
		{"a type that is owned as shared and not", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Owns[*page](c)
			operator.Owns[*page](c, operator.InNamespace("other"), operator.Shared())
		})},
		{"events as an owned kind", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*operator.EventResource](c) })},
		{"an option that is nil", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*page](c, nil) })},
		{"an owned kind without a type", changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*bare](c) })},

		// The status.
		{"two statuses", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Status[seen, statusExtension](c)
			operator.Status[seen, otherExtension](c)
		})},
		{"a status that is shared", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Status[seen, statusExtension](c, operator.Shared())
		})},
		{"a status without a namespace", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Status[seen, placelessExtension](c)
		})},
		{"the status as an owned kind", changed(reconciled(), func(c *operator.Controller[*site]) {
			operator.Status[seen, statusExtension](c)
			operator.Owns[*siteStatus](c)
		})},
		{"conditions without a status", reconciled().WithoutConditions()},
		{"updates of a status without one", reconciled().StatusUpdates()},

		// Settings.
		{"a selector without terms", reconciled().Select()},
		{"a selector with a term that is nil", reconciled().Select(nil)},
		{"no workers", reconciled().Workers(0)},
		{"an interval that is 0", reconciled().Every(0)},
		{"a resync at once", reconciled().Resync(0)},
		{"a bound below 0", reconciled().Timeout(-time.Second)},
		{"no time for events", reconciled().EventFlush(0)},
		{"a recorder that is nil", reconciled().RecordEvents(nil)},

		// All at once.
		{"many mistakes at once", changed(define("my sites").Workers(0).Every(0).Finalize("", nil), func(c *operator.Controller[*site]) {
			operator.Owns[*page](c, nil)
			operator.Watch[*page](c, nil)
			c.Stage("not ready", nil, nil)
			c.Otherwise(nil)
		})},
	}
}

type mistake struct {
	what       string
	definition operator.Definition
}

func changed(c *operator.Controller[*site], change func(*operator.Controller[*site])) *operator.Controller[*site] {
	change(c)

	return c
}

func withCases() *operator.Controller[*site] {
	c := define("sites").Otherwise(handle)
	c.Case("Empty", is, handle)

	return c
}

// What is said to whoever makes a mistake names the controller, what is wrong, and what to do.
func TestMistakesAreTold(t *testing.T) {
	t.Parallel()

	var told strings.Builder

	for _, m := range mistakes() {
		err := operator.Register(refusing{t}, m.definition)

		var mistake *operator.DefinitionError

		require.ErrorAs(t, err, &mistake, m.what)
		require.Equal(t, m.definition.Name(), mistake.Controller)
		require.Equal(t, err.Error(), operator.Register(refusing{t}, m.definition).Error(), "told again, it is the same")

		fmt.Fprintf(&told, "# %s\n%s\n\n", m.what, err)
	}

	golden(t, "mistakes.txt", told.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()

	path := filepath.Join("testdata", name)

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// refusing is an engine that nothing is to be registered with.
type refusing struct{ t *testing.T }

func (r refusing) RegisterController(c controller.Controller) error {
	r.t.Errorf("%s is registered", c.Name())

	return nil
}

func (r refusing) RegisterQController(c controller.QController) error {
	r.t.Errorf("%s is registered", c.Name())

	return nil
}

func (refusing) Run(context.Context) error { return nil }

// What is wrong with several controllers, or with a program of them, is told as well, and then nothing is registered.
func TestMistakesOfProgramsAreTold(t *testing.T) {
	t.Parallel()

	var told strings.Builder

	tell := func(what string, err error) {
		require.Error(t, err, what)
		fmt.Fprintf(&told, "# %s\n%s\n\n", what, err)
	}

	tell("two controllers of one name", operator.Register(refusing{t}, reconciled(), reconciled()))
	tell("one controller twice", func(c operator.Definition) error { return operator.Register(refusing{t}, c, c) }(reconciled()))
	tell("several controllers with mistakes", operator.Register(refusing{t}, define("a"), define("b").Reconcile(handle), define("c").Workers(0)))
	tell("two finalizers of one key", operator.Register(refusing{t},
		reconciled().Finalize("example.com/a", handleStage), define("others").Reconcile(handle).Finalize("example.com/a", handleStage)))
	tell("a finalizer of the name of another controller", operator.Register(refusing{t},
		changed(reconciled(), func(c *operator.Controller[*site]) { operator.Owns[*page](c) }),
		define("others").Reconcile(handle).Finalize("sites", handleStage)))
	tell("a definition that is nil", operator.Register(refusing{t}, reconciled(), nil))

	built := reconciled()
	_, err := built.Build()
	require.NoError(t, err)

	_, err = built.Build()
	tell("a controller that is built twice", err)
	tell("a controller that is registered once it is built", operator.Register(refusing{t}, built))
	tell("a definition that is changed once it is built", panicOf(func() { built.Every(time.Second) }))
	tell("a kind that is added once it is built", panicOf(func() { operator.Owns[*page](built) }))

	app := operator.NewApp(operator.AppConfig{})
	once := define("a")
	require.NoError(t, app.Include(once))
	tell("a controller that is included twice", app.Include(once))
	tell("a controller that is included twice at once", app.Include(built, built))
	tell("a controller that is nil", app.Include(nil))
	tell("other controllers that are nil", app.Register(nil))
	tell("a lifespan that is nil", app.Lifespan(nil))

	require.NoError(t, app.Include(define("b").Workers(0), define("a").Reconcile(handle), built))
	tell("an app of controllers with mistakes", app.Check())
	require.Equal(t, app.Check().Error(), app.Run(t.Context()).Error())

	golden(t, "programs.txt", told.String())
}

// panicOf returns what a function panics with, as an error.
func panicOf(fn func()) (err error) {
	defer func() { err = fmt.Errorf("panic: %v", recover()) }()

	fn()

	return nil
}

// What an app is told once it runs comes too late, and changes nothing.
func TestAppThatRunsTakesNothingMore(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	app := operator.NewApp(operator.AppConfig{})
	late := reconciled()

	require.NoError(t, app.Lifespan(func(context.Context) (func(context.Context) error, error) {
		require.ErrorIs(t, app.Include(late), operator.ErrStarted)
		require.ErrorIs(t, app.Register(func(controller.Engine) error { return nil }), operator.ErrStarted)
		require.ErrorIs(t, app.Lifespan(func(context.Context) (func(context.Context) error, error) { return nil, nil }), operator.ErrStarted)
		require.ErrorIs(t, app.Check(), operator.ErrStarted)
		require.ErrorIs(t, app.Run(ctx), operator.ErrStarted)
		cancel()

		return nil, nil
	}))
	require.NoError(t, app.Run(ctx))

	_, err := late.Build()
	require.NoError(t, err, "what was refused may go elsewhere")
}

// What a definition is frozen by is its start: until then more can be said, whatever was checked.
func TestDefinitionsAreFrozenAtTheStart(t *testing.T) {
	t.Parallel()

	app := operator.NewApp(operator.AppConfig{})
	c := define("sites")
	require.NoError(t, app.Include(c))
	require.Error(t, app.Check())

	c.Reconcile(handle)
	require.NoError(t, app.Check())
	_, err := app.Graph()
	require.NoError(t, err)

	operator.Owns[*page](c)
	require.NoError(t, app.Check())

	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, app.Lifespan(func(context.Context) (func(context.Context) error, error) {
		require.ErrorContains(t, panicOf(func() { operator.Owns[*doc](c) }), "has been built")
		cancel()

		return nil, nil
	}))
	require.NoError(t, app.Run(ctx))
}
