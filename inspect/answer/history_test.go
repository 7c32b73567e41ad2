package answer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// lives are an engine in which numbers become texts, and answers about it.
type lives struct {
	*testing.T
	state.State

	engine  *runtime.Runtime
	answers *answer.Answers
}

// inLives runs a test in a bubble of time.
func inLives(t *testing.T, test func(l *lives)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		st := state.WrapCore(namespaced.NewState(inmem.Build))
		engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 1024})
		require.NoError(t, err)
		require.NoError(t, engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))

		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)

		go func() { done <- engine.Run(ctx) }()

		t.Cleanup(func() {
			cancel()
			assert.NoError(t, <-done)
		})

		synctest.Wait()
		test(&lives{t, st, engine, answer.New(answer.Config{Engine: engine, State: st})})
	})
}

// later lets all come of what was done that does, and a second pass.
func (l *lives) later() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

func (l *lives) create(r resource.Resource) {
	l.Helper()
	require.NoError(l, l.Create(l.Context(), r))
	l.later()
}

// end tears a number down, and destroys it when the controller has let go of it.
func (l *lives) end(id resource.ID) {
	l.Helper()

	md := resource.NewMetadata("source", conformance.IntResourceType, id, resource.VersionUndefined)

	_, err := l.Teardown(l.Context(), md)
	require.NoError(l, err)
	l.later()
	require.NoError(l, l.Destroy(l.Context(), md))
	l.later()
}

var (
	number = api.Ref{Namespace: "source", Type: conformance.IntResourceType, ID: "one"}
	text   = api.Ref{Namespace: "target", Type: conformance.StrResourceType, ID: "one"}
)

// What a pass has destroyed, and somebody else has made anew, was not made by the pass.
func TestDestroyedAndMadeAnewFromOutside(t *testing.T) {
	inLives(t, func(l *lives) {
		l.create(conformance.NewIntResource("source", "one", 1))
		l.end("one")
		l.create(conformance.NewStrResource("target", "one", "by hand"))

		why, err := l.answers.WhyResource(l.Context(), text)
		require.NoError(l, err)
		require.NotEmpty(l, why.Roots)
		assert.Equal(l, text.String()+" v1, from outside", why.Roots[0].Text, why)
	})
}

// Each life of a resource has versions of its own.
func TestHistoryOfTwoLives(t *testing.T) {
	inLives(t, func(l *lives) {
		for range 2 {
			l.create(conformance.NewIntResource("source", "one", 1))
			l.end("one")
		}

		d, err := l.answers.Resource(l.Context(), number)
		require.NoError(l, err)

		var verbs []string
		for _, v := range d.History {
			verbs = append(verbs, v.Verb)
		}

		life := []string{"destroyed", "remove a finalizer from", "phase", "add a finalizer to", "created"}
		assert.Equal(l, append(life, life...), verbs)
	})
}

// A pass that takes long makes a version that comes after those which others were told of while it ran.
func TestHistoryIsInOrderOfVersions(t *testing.T) {
	began, key := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), thing(1)

	p := &plain{passes: map[string][]cause.Pass{
		"slow": {{
			Controller: "slow", Number: 1, Doing: cause.Waking, Began: began, Ended: began.Add(time.Minute), Outcome: cause.Succeeded,
			Writes: []cause.Access{{Resource: key, Verb: "modify", Version: 2, Life: 1}},
		}},
		"reader": {{
			Controller: "reader", Number: 1, Doing: cause.Waking, Began: began.Add(time.Second), Ended: began.Add(time.Second), Outcome: cause.Succeeded,
			Causes: []cause.Cause{{Resource: key, Change: cause.Change{To: 1, Life: 1, Events: 1, Changed: reduced.ChangeCreated}}},
		}},
	}}

	st := state.WrapCore(namespaced.NewState(inmem.Build))

	d, err := answer.New(answer.Config{Engine: p, State: st}).Resource(t.Context(), api.Ref{Namespace: key.Namespace, Type: key.Type, ID: key.ID})
	require.NoError(t, err)
	require.Len(t, d.History, 2)
	assert.EqualValues(t, 2, d.History[0].Version)
	assert.EqualValues(t, 1, d.History[1].Version)
}
