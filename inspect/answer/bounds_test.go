package answer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// plain is an engine that says what it was made of.
type plain struct {
	forgotten map[string]time.Time
	passes    map[string][]cause.Pass
	graph     controller.DependencyGraph
	health    runtime.Health
}

func (p *plain) GetDependencyGraph() (*controller.DependencyGraph, error) { return &p.graph, nil }
func (p *plain) Health() runtime.Health                                   { return p.health }
func (p *plain) Passes(name string) ([]cause.Pass, error)                 { return p.passes[name], nil }
func (p *plain) GraphRevision() uint64                                    { return 1 }
func (p *plain) Book() *cause.Book                                        { return cause.NewBook(p.passes, p.forgotten, nil) }

func thing(i int) reduced.Key {
	return reduced.Key{Kind: reduced.Kind{Namespace: "app", Type: fmt.Sprintf("Things%d", i)}, ID: "x"}
}

// crowd is many controllers, each of which reads all that some before it write, and fails.
func crowd(n int) *plain {
	p := &plain{passes: map[string][]cause.Pass{}, health: runtime.Health{Running: true, StuckAfter: time.Minute}}
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	for i := range n {
		name := fmt.Sprintf("controller%d", i)
		p.health.Controllers = append(p.health.Controllers, runtime.ControllerHealth{Name: name, Status: adapter.Status{Phase: adapter.Running}})
		p.graph.Edges = append(p.graph.Edges, controller.DependencyEdge{ControllerName: name, EdgeType: controller.EdgeOutputShared, ResourceType: thing(i).Type})

		for number := range 32 {
			at := began.Add(time.Duration(number*n+i) * time.Second)
			pass := cause.Pass{
				Controller: name, Number: uint64(number + 1), Doing: cause.Waking, Began: at, Ended: at.Add(time.Millisecond), Outcome: cause.Failed, Failure: name,
				Writes: []cause.Access{{Resource: thing(i), Verb: "modify", Version: uint64(number + 1), Life: 1}},
			}

			for j := range cause.Most {
				from := (i + n - 1 - j*j) % n
				pass.Reads = append(pass.Reads, cause.Access{Resource: thing(from)})
				pass.Causes = append(pass.Causes, cause.Cause{Resource: thing(from), Change: cause.Change{
					From: uint64(number), To: uint64(number + 1), Life: 1, Events: 2, Changed: reduced.ChangeSpec,
				}})
			}

			p.passes[name] = append([]cause.Pass{pass}, p.passes[name]...)
		}
	}

	return p
}

// Answers are bounded, however many controllers have to do with each other.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()

	engine := crowd(1000)
	a := answer.New(answer.Config{Engine: engine, State: state.WrapCore(namespaced.NewState(inmem.Build))})
	ref := api.Ref{Namespace: "app", Type: thing(999).Type, ID: "x"}

	why, err := a.WhyResource(t.Context(), ref)
	require.NoError(t, err)
	require.LessOrEqual(t, len(why.Roots), 65)
	require.LessOrEqual(t, count(why.Trees), 8*1024)

	blocked, err := a.BlockedResource(t.Context(), ref)
	require.NoError(t, err)
	require.LessOrEqual(t, len(blocked.Roots), 64)
	require.LessOrEqual(t, len(strings.Split(blocked.String(), "\n")), 5000)

	for _, doc := range []any{why, blocked} {
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		require.Less(t, len(text), 16<<20)
	}
}

func count(trees []*api.WhyPass) (n int) {
	for _, tree := range trees {
		n++

		for _, b := range tree.Because {
			n += count(b.By)
		}
	}

	return n
}

// failing is a state that gives nothing.
type failing struct{ state.CoreState }

var errGone = errors.New("the connection is lost")

func (failing) Get(context.Context, resource.Pointer, ...state.GetOption) (resource.Resource, error) {
	return nil, errGone
}

func (failing) List(context.Context, resource.Kind, ...state.ListOption) (resource.List, error) {
	return resource.List{}, errGone
}

// Where the state fails, what passes remember is told all the same, and what has to be read is an error.
func TestStatesThatFail(t *testing.T) {
	t.Parallel()

	a := answer.New(answer.Config{Engine: crowd(20), State: failing{}})
	ref := api.Ref{Namespace: "app", Type: thing(3).Type, ID: "x"}

	why, err := a.WhyResource(t.Context(), ref)
	require.NoError(t, err)
	require.NotEmpty(t, why.Trees)
	require.Contains(t, why.Note, errGone.Error())

	_, err = a.BlockedResource(t.Context(), ref)
	require.ErrorIs(t, err, errGone)

	blocked, err := a.BlockedController(t.Context(), "controller3")
	require.NoError(t, err)
	require.Contains(t, blocked.String(), errGone.Error())

	_, err = a.Resource(t.Context(), ref)
	require.ErrorIs(t, err, errGone)
	_, err = a.List(t.Context(), ref.Namespace, ref.Type, 1)
	require.ErrorIs(t, err, errGone)
}

// What is not there is named, with what may have been meant.
func TestNamesThatAreNotThere(t *testing.T) {
	t.Parallel()

	a := answer.New(answer.Config{Engine: crowd(12), State: state.WrapCore(namespaced.NewState(inmem.Build))})

	_, err := a.WhyController("Controller1")

	var unknown *answer.NotFoundError

	require.ErrorAs(t, err, &unknown)
	require.Equal(t, []string{"controller1", "controller10", "controller11"}, unknown.Similar)
	require.Equal(t, `there is no controller "Controller1"; there is "controller1", "controller10", "controller11"`, err.Error())

	_, err = a.WhyPass(api.PassRef{Controller: "controller1", Number: 99})
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "pass", unknown.What)
}

// Names may be anything: they stand in documents as they are, and do nothing to a terminal.
func TestHostileNames(t *testing.T) {
	t.Parallel()

	st := state.WrapCore(namespaced.NewState(inmem.Build))
	a := answer.New(answer.Config{Engine: crowd(1), State: st})

	for _, id := range []resource.ID{"<script>", "a\nroot cause\n  nothing", "\x1b[2J", "..", "a/b?c#d", "\u202egnp.exe", strings.Repeat("x", 10_000), "\xff\xfe"} {
		ref := api.Ref{Namespace: "app", Type: thing(0).Type, ID: id}

		blocked, err := a.BlockedResource(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, id, blocked.Resource.ID)

		why, err := a.WhyResource(t.Context(), ref)
		require.NoError(t, err)

		for _, text := range []string{blocked.String(), why.String()} {
			require.NotContains(t, text, "\x1b")
			require.NotContains(t, text, "\u202e")
			require.NotContains(t, text, "\nroot cause\n  nothing")
		}
	}
}
