package controllers_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
	"github.com/switchyard-run/switchyard/runtime"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const patience = 10 * time.Second

// bench runs some of the controllers over a state that the test writes the other controllers' part of.
type bench struct {
	t     *testing.T
	state state.State
	end   func()
}

func run(t *testing.T, register func(controller.Engine) error) *bench {
	t.Helper()

	return runWith(t, runtime.Config{}, register)
}

func runWith(t *testing.T, cfg runtime.Config, register func(controller.Engine) error) *bench {
	t.Helper()

	b := &bench{t: t, state: state.WrapCore(resources.Stamped(namespaced.NewState(inmem.Build)))}

	engine, err := runtime.New(b.state, zaptest.NewLogger(t), cfg)
	require.NoError(t, err)
	require.NoError(t, register(engine))

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)

	go func() { done <- engine.Run(ctx) }()

	b.end = sync.OnceFunc(func() {
		cancel()

		assert.NoError(t, <-done)
	})

	t.Cleanup(b.end)

	return b
}

// put writes a resource, as the controller would that owns it.
func (b *bench) put(r resource.Resource) {
	b.t.Helper()

	require.NoError(b.t, b.state.Modify(b.t.Context(), r.DeepCopy(), func(res resource.Resource) error {
		*res.Metadata().Labels() = *r.Metadata().Labels()

		return copySpec(res, r)
	}))
}

// drop tears a resource down, and destroys it when nobody holds it any more.
func (b *bench) drop(r resource.Resource) {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()

	require.NoError(b.t, b.state.TeardownAndDestroy(ctx, r.Metadata()))
}

// await waits for a resource to be as wanted.
func await[R generic.ResourceWithRD](b *bench, id resource.ID, wanted func(R) bool) R {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()

	var zero R

	rd := zero.ResourceDefinition()
	md := resource.NewMetadata(rd.DefaultNamespace, rd.Type, id, resource.VersionUndefined)

	r, err := safe.StateWatchFor[R](ctx, b.state, md, state.WithEventTypes(state.Created, state.Updated),
		state.WithCondition(func(r resource.Resource) (bool, error) {
			typed, ok := r.(R)

			return ok && wanted(typed), nil
		}))
	require.NoError(b.t, err, "%s", md)

	return r
}

// awaitGone waits for a resource to be destroyed.
func (b *bench) awaitGone(r resource.Resource) {
	b.t.Helper()

	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()

	_, err := b.state.WatchFor(ctx, r.Metadata(), state.WithEventTypes(state.Destroyed))
	require.NoError(b.t, err, "%s", r.Metadata())
}

// reported is a status that says whether a resource is ready as it is now, and if not, why.
func reported[S typed.DeepCopyable[S]](subject resource.Resource, ready operator.ConditionStatus, reason, message string) operator.StatusSpec[S] {
	return operator.StatusSpec[S]{
		SubjectUID: operator.Incarnation(subject), ObservedGeneration: generation.Of(subject),
		Conditions: operator.Conditions{{Type: operator.Ready, Status: ready, Reason: reason, Message: message}},
	}
}
