package incidents_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ns is the namespace of all resources.
const ns = resource.Namespace("app")

// thing is a resource of whatever kind that says a text, and whether it is ready if it can tell.
type thing struct {
	md   resource.Metadata
	spec thingSpec
}

type thingSpec struct {
	Text       string      `yaml:"text,omitempty"`
	Conditions []condition `yaml:"conditions,omitempty"`
}

type condition struct {
	Type    string `yaml:"type"`
	Status  string `yaml:"status"`
	Reason  string `yaml:"reason,omitempty"`
	Message string `yaml:"message,omitempty"`
}

func newThing(kind resource.Type, id resource.ID, text string) *thing {
	return &thing{resource.NewMetadata(ns, kind, id, resource.VersionUndefined), thingSpec{Text: text}}
}

func (t *thing) Metadata() *resource.Metadata { return &t.md }
func (t *thing) Spec() any                    { return t.spec }

func (t *thing) DeepCopy() resource.Resource {
	return &thing{t.md.Copy(), thingSpec{t.spec.Text, append([]condition(nil), t.spec.Conditions...)}}
}

func pointer(kind resource.Type, id resource.ID) *resource.Metadata {
	md := resource.NewMetadata(ns, kind, id, resource.VersionUndefined)

	return &md
}

func ref(kind resource.Type, id resource.ID) api.Ref {
	return api.Ref{Namespace: ns, Type: kind, ID: id}
}

// world is an engine over a state in memory, and whoever is asked about it. It lives in a bubble.
type world struct {
	*runtime.Runtime

	t       *testing.T
	state   state.State
	doors   *doors
	answers *answer.Answers
	// end ends the engine, which has ended when it returns.
	end func()
}

func newWorld(t *testing.T) *world {
	t.Helper()

	d := &doors{CoreState: namespaced.NewState(inmem.Build), broken: map[resource.Type]error{}}
	w := &world{t: t, doors: d, state: state.WrapCore(d), end: func() {}}

	var err error

	w.Runtime, err = runtime.New(w.state, nil, runtime.Config{Passes: cause.DefaultPasses})
	require.NoError(t, err)

	w.answers = answer.New(answer.Config{Engine: w.Runtime, State: w.state, Show: func(resource.Type) bool { return true }})

	return w
}

// with registers controllers.
func (w *world) with(all ...controller.Controller) *world {
	w.t.Helper()

	for _, c := range all {
		require.NoError(w.t, w.RegisterController(c))
	}

	return w
}

// withQueues registers queue controllers.
func (w *world) withQueues(all ...controller.QController) *world {
	w.t.Helper()

	for _, c := range all {
		require.NoError(w.t, w.RegisterQController(c))
	}

	return w
}

// start has the engine run until the test ends.
func (w *world) start() *world {
	ctx, cancel := context.WithCancel(w.t.Context())

	var running sync.WaitGroup

	running.Go(func() { _ = w.Run(ctx) })

	w.end = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})

	w.t.Cleanup(w.end)
	w.passes(time.Second)

	return w
}

// passes lets time go by, and then everybody come to rest.
func (w *world) passes(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// write has somebody outside say a text, and what comes of it happen.
func (w *world) write(kind resource.Type, id resource.ID, text string) {
	w.t.Helper()

	err := w.state.Create(w.t.Context(), newThing(kind, id, text))
	if state.IsConflictError(err) {
		_, err = w.state.UpdateWithConflicts(w.t.Context(), pointer(kind, id), func(res resource.Resource) error {
			res.(*thing).spec.Text = text

			return nil
		})
	}

	require.NoError(w.t, err)
	w.passes(time.Second)
}

// edit has somebody outside change what a controller has made, in its name.
func (w *world) edit(owner string, kind resource.Type, id resource.ID, text string) {
	w.t.Helper()

	_, err := w.state.UpdateWithConflicts(w.t.Context(), pointer(kind, id), func(res resource.Resource) error {
		res.(*thing).spec.Text = text

		return nil
	}, state.WithUpdateOwner(owner))
	require.NoError(w.t, err)
	w.passes(time.Second)
}

// own has a controller own a resource before it runs.
func (w *world) own(owner string, kind resource.Type, id resource.ID, finalizers ...resource.Finalizer) {
	w.t.Helper()

	res := newThing(kind, id, "old")
	for _, f := range finalizers {
		res.Metadata().Finalizers().Add(f)
	}

	require.NoError(w.t, w.state.Create(w.t.Context(), res, state.WithCreateOwner(owner)))
}

// tearDown has somebody outside tear a resource down.
func (w *world) tearDown(kind resource.Type, id resource.ID) {
	w.t.Helper()

	_, err := w.state.Teardown(w.t.Context(), pointer(kind, id))
	require.NoError(w.t, err)
	w.passes(time.Second)
}

// hold has somebody outside put a finalizer on a resource.
func (w *world) hold(kind resource.Type, id resource.ID, finalizer resource.Finalizer) {
	w.t.Helper()

	require.NoError(w.t, w.state.AddFinalizer(w.t.Context(), pointer(kind, id), finalizer))
	w.passes(time.Second)
}

func (w *world) why(kind resource.Type, id resource.ID) string {
	w.t.Helper()

	a, err := w.answers.WhyResource(w.t.Context(), ref(kind, id))

	return w.screen("why", kind+" "+id+" -n "+ns, a, err)
}

func (w *world) whyController(name string) string {
	w.t.Helper()

	a, err := w.answers.WhyController(name)

	return w.screen("why", name, a, err)
}

func (w *world) blocked(kind resource.Type, id resource.ID) string {
	w.t.Helper()

	a, err := w.answers.BlockedResource(w.t.Context(), ref(kind, id))

	return w.screen("blocked", kind+" "+id+" -n "+ns, a, err)
}

func (w *world) blockedController(name string) string {
	w.t.Helper()

	a, err := w.answers.BlockedController(w.t.Context(), name)

	return w.screen("blocked", name, a, err)
}

// screen is what stands on the screen when a question was answered.
func (w *world) screen(question, about string, a fmt.Stringer, err error) string {
	w.t.Helper()
	require.NoError(w.t, err)

	return fmt.Sprintf("$ swy %s %s\n%s", question, about, a)
}

// doors is a state in which kinds can not be watched.
type doors struct {
	state.CoreState

	mu     sync.Mutex // guards the fields below
	broken map[resource.Type]error
	silent resource.Type
}

var errDenied = errors.New("permission denied: the token of the host has expired")

// breaks has a kind not be watched.
func (d *doors) breaks(kind resource.Type) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.broken[kind] = errDenied
}

// silences has a kind be watched, and tell nothing.
func (d *doors) silences(kind resource.Type) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.silent = kind
}

// opens waits or fails, if a kind is not to be watched.
func (d *doors) opens(ctx context.Context, kind resource.Type) error {
	d.mu.Lock()
	err, silent := d.broken[kind], d.silent == kind
	d.mu.Unlock()

	if silent {
		<-ctx.Done()

		return ctx.Err()
	}

	return err
}

func (d *doors) WatchKind(ctx context.Context, kind resource.Kind, ch chan<- state.Event, opts ...state.WatchKindOption) error {
	if err := d.opens(ctx, kind.Type()); err != nil {
		return err
	}

	return d.CoreState.WatchKind(ctx, kind, ch, opts...)
}

func (d *doors) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	if err := d.opens(ctx, kind.Type()); err != nil {
		return err
	}

	return d.CoreState.WatchKindAggregated(ctx, kind, ch, opts...)
}
