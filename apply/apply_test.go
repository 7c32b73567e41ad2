package apply_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-run/switchyard/apply"
	"github.com/switchyard-run/switchyard/inspect/api"
)

func TestMain(m *testing.M) {
	for _, err := range []error{
		protobuf.RegisterDynamic[widgetSpec](widgetType, &widget{}),
		protobuf.RegisterDynamic[widgetSpec](keyType, &typed.Resource[widgetSpec, keyExtension]{}),
	} {
		if err != nil {
			panic(err)
		}
	}

	goleak.VerifyTestMain(m)
}

const widgetType = "Widgets.apply.test"

type widget = typed.Resource[widgetSpec, widgetExtension]

type widgetSpec struct {
	Size  int            `yaml:"size" protobuf:"1"`
	Parts []string       `yaml:"parts,omitempty" protobuf:"2"`
	Inner widgetSpecPart `yaml:"inner" protobuf:"3"`
}

type widgetSpecPart struct {
	On bool `yaml:"on" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s widgetSpec) DeepCopy() widgetSpec { return s }

type widgetExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (widgetExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: widgetType, DefaultNamespace: "shop"}
}

func newWidget(id string, size int) *widget {
	return typed.NewResource[widgetSpec, widgetExtension](resource.NewMetadata("shop", widgetType, id, resource.VersionUndefined), widgetSpec{Size: size})
}

// world is a state with a handler before it.
type world struct {
	t       *testing.T
	state   state.State
	handler http.Handler
}

func newWorld(t *testing.T) *world {
	st := state.WrapCore(namespaced.NewState(inmem.Build))

	return &world{t: t, state: st, handler: apply.New(apply.Config{State: st})}
}

// send applies documents and returns what came of it.
func (w *world) send(text string) *apply.Report {
	w.t.Helper()

	return w.ask(request(text))
}

func request(text string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text))
	r.Host = "localhost:8080"
	r.Header.Set("Content-Type", apply.ContentType)

	return r
}

func (w *world) ask(r *http.Request) *apply.Report {
	w.t.Helper()

	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, r)

	report := &apply.Report{}
	require.NoError(w.t, json.Unmarshal(answer.Body.Bytes(), report), answer.Body.String())
	assert.Equal(w.t, answer.Code, report.Status)
	assert.Equal(w.t, "application/json", answer.Header().Get("Content-Type"))

	return report
}

func (w *world) get(id string) *widget {
	w.t.Helper()

	r, err := w.state.Get(w.t.Context(), newWidget(id, 0).Metadata())
	require.NoError(w.t, err)

	return r.(*widget)
}

func (w *world) missing(id string) {
	w.t.Helper()

	_, err := w.state.Get(w.t.Context(), newWidget(id, 0).Metadata())
	assert.True(w.t, state.IsNotFoundError(err), "%s: %v", id, err)
}

func outcomes(report *apply.Report) (all []apply.Outcome) {
	for _, r := range report.Results {
		all = append(all, r.Outcome)
	}

	return all
}

func TestDocumentsAreCreatedConfiguredOrLeft(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.state.Create(t.Context(), newWidget("there", 1)))

	const text = `
# the first has no namespace: the type has a default
metadata: {type: Widgets.apply.test, id: new, labels: {a: b}, annotations: {c: d}}
spec: {size: 3, parts: [x], inner: {on: true}}
---
---
metadata: {namespace: shop, type: Widgets.apply.test, id: there}
spec: {size: 2}
`

	report := w.send(text)
	require.Equal(t, http.StatusOK, report.Status, report)
	assert.Equal(t, []apply.Outcome{apply.Created, apply.Configured}, outcomes(report))
	assert.Equal(t, []int{1, 3}, []int{report.Results[0].Document, report.Results[1].Document}, "documents that are empty count")
	assert.Equal(t, "Widgets.apply.test(shop/new) created\nWidgets.apply.test(shop/there) configured\n", report.String())

	made := w.get("new")
	assert.Equal(t, widgetSpec{3, []string{"x"}, widgetSpecPart{true}}, *made.TypedSpec())
	assert.Equal(t, "", made.Metadata().Owner())
	assert.Equal(t, map[string]string{"a": "b"}, made.Metadata().Labels().Raw())
	assert.Equal(t, map[string]string{"c": "d"}, made.Metadata().Annotations().Raw())
	assert.Equal(t, 2, w.get("there").TypedSpec().Size)

	report = w.send(text)
	assert.Equal(t, []apply.Outcome{apply.Unchanged, apply.Unchanged}, outcomes(report))
	assert.Equal(t, uint64(1), made.Metadata().Version().Value())
	assert.Equal(t, made.Metadata().Version(), w.get("new").Metadata().Version())
}

// What the state has written down can be edited and applied.
func TestWhatIsReadCanBeApplied(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.state.Create(t.Context(), newWidget("a", 1)))
	require.NoError(t, w.state.AddFinalizer(t.Context(), newWidget("a", 0).Metadata(), "Somebody"))

	text := fmt.Sprintf(`
metadata:
  namespace: shop
  type: Widgets.apply.test
  id: a
  version: %s
  owner:
  phase: running
  created: 2020-01-01T00:00:00Z
  updated: 2020-01-01T00:00:00Z
  finalizers: [Somebody, Another]
spec:
  size: 5
`, w.get("a").Metadata().Version())

	assert.Equal(t, []apply.Outcome{apply.Configured}, outcomes(w.send(text)))
	assert.Equal(t, resource.Finalizers{"Somebody"}, *w.get("a").Metadata().Finalizers(), "finalizers belong to who has set them")

	// The same once more is an update of what is not there any more.
	report := w.send(text)
	assert.Equal(t, http.StatusConflict, report.Status)
	assert.Equal(t, "it is at version 3, not 2", report.Results[0].Reason)
}

func TestLabelsStayUnlessTheyAreGiven(t *testing.T) {
	w := newWorld(t)
	there := newWidget("a", 1)
	there.Metadata().Labels().Set("mine", "1")
	there.Metadata().Annotations().Set("mine", "1")
	require.NoError(t, w.state.Create(t.Context(), there))

	assert.Equal(t, []apply.Outcome{apply.Unchanged}, outcomes(w.send("metadata: {type: Widgets.apply.test, id: a}\nspec: {size: 1}")))
	assert.Equal(t, []apply.Outcome{apply.Configured}, outcomes(w.send("metadata: {type: Widgets.apply.test, id: a, labels: {}}\nspec: {size: 1}")))
	assert.Empty(t, w.get("a").Metadata().Labels().Raw())
	assert.NotEmpty(t, w.get("a").Metadata().Annotations().Raw())
}

// All faults are told at once, each with its place, and nothing is written.
func TestFaultsAreToldTogether(t *testing.T) {
	w := newWorld(t)

	report := w.send(`metadata: {type: Widgets.apply.test, id: good}
spec: {}
---
metadata:
  type: Widgets.apply.test
  id: bad
  nonsense: 1
  owner: Somebody
  phase: tearingDown
  version: x
spec: {sise: 1}
---
metadata: {type: Widgets.apply.test, id: spec}
spec:
  size: many
  inner: {on: true, off: true}
  parts:
  - ok
  - [x]
---
metadata: {type: Gadgets.apply.test, id: a}
---
metadata: {type: Widgets.apply.test, id: good}
spec: {}
---
- a list
---
metadata: {}
spec: {}
more: {}
---
metadata: [
`)

	assert.Equal(t, http.StatusBadRequest, report.Status)
	assert.Equal(t, "nothing was written: there are 16 faults in the documents", report.Error)
	assert.Equal(t, strings.TrimPrefix(`
document 2, line 7, metadata.nonsense: is not known; known are namespace, type, id, version, owner, phase, created, updated, labels, annotations, finalizers
document 2, line 10, metadata.version: "x" is no version: a number, or leave it out
document 2, line 8, metadata.owner: what belongs to Somebody is for it to write; leave the owner out to have a resource of nobody
document 2, line 9, metadata.phase: is "tearingDown"; only what is "running" can be applied
document 2, line 11, spec.sise: is not known
document 3, line 15, spec.size: cannot construct !!str ~many~ into int
document 3, line 16, spec.inner.off: is not known
document 3, line 19, spec.parts[1]: cannot construct !!seq into string
document 4, line 21, spec: is missing
document 4, line 21, metadata.type: there is no type "Gadgets.apply.test", or the program has not registered it
document 5, line 23: Widgets.apply.test(shop/good) is in document 1 already
document 6, line 26: has to be a group of fields: metadata, spec
document 7, line 30, more: is not known; known are metadata, spec
document 7, line 28, metadata.type: is missing
document 7, line 28, metadata.id: is missing
document 8, line 32: this is no YAML: while parsing a flow node at line 32: did not find expected node content
`, "\n"), strings.ReplaceAll(report.String(), "`", "~"))
}

// What is refused is found before anything is written.
func TestNothingIsWrittenIfOneIsRefused(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()

	require.NoError(t, w.state.Create(ctx, newWidget("owned", 1), state.WithCreateOwner("Maker")))
	require.NoError(t, w.state.Create(ctx, newWidget("going", 1)))
	require.NoError(t, w.state.AddFinalizer(ctx, newWidget("going", 0).Metadata(), "Holder"))
	_, err := w.state.Teardown(ctx, newWidget("going", 0).Metadata())
	require.NoError(t, err)

	for name, c := range map[string]struct{ metadata, reason, do string }{
		"an owner":     {"id: owned", "it belongs to Maker", "change what that controller makes it from"},
		"teardown":     {"id: going", "it is in teardown", "wait until it is gone, then apply again"},
		"a version":    {"id: other, version: 3", "version 3 is not there: the resource does not exist", "leave the version out to create it"},
		"a finalizer":  {"id: other, finalizers: [X]", "it would be created with finalizers, which nobody would remove", "leave the finalizers out"},
		"another kind": {"id: other, namespace: shop, finalizers: [X]", "it would be created with finalizers, which nobody would remove", "leave the finalizers out"},
	} {
		report := w.send("metadata: {type: Widgets.apply.test, id: first}\nspec: {}\n---\nmetadata: {type: Widgets.apply.test, " + c.metadata + "}\nspec: {size: 9}\n")

		assert.Equal(t, http.StatusConflict, report.Status, name)
		assert.Equal(t, "nothing was written", report.Error, name)
		require.Equal(t, []apply.Outcome{apply.NotTried, apply.Refused}, outcomes(report), name)
		assert.Equal(t, c.reason, report.Results[1].Reason, name)
		assert.Equal(t, c.do, report.Results[1].Do, name)
		w.missing("first")
	}
}

// rule allows what does not belong to others; it speaks as a state API would.
func rule(_ context.Context, access state.Access) error {
	if access.Verb.Readonly() || access.ResourceID != "forbidden" {
		return nil
	}

	return status.Error(codes.PermissionDenied, "this one is not for clients")
}

func TestTheHostSaysWhatMayBeWritten(t *testing.T) {
	w := newWorld(t)
	w.handler = apply.New(apply.Config{State: state.Filter(w.state, rule), Allow: rule})

	report := w.send("metadata: {type: Widgets.apply.test, id: first}\nspec: {}\n---\nmetadata: {type: Widgets.apply.test, id: forbidden}\nspec: {}\n")
	assert.Equal(t, http.StatusForbidden, report.Status)
	assert.Equal(t, "this one is not for clients", report.Results[1].Reason)
	w.missing("first")
}

// breaking is a state that others write to at the worst moment.
type breaking struct {
	state.CoreState

	before func(id string) error
}

// Create implements [state.CoreState].
func (b breaking) Create(ctx context.Context, r resource.Resource, opts ...state.CreateOption) error {
	if err := b.before(r.Metadata().ID()); err != nil {
		return err
	}

	return b.CoreState.Create(ctx, r, opts...)
}

func TestAFailureMidwayTellsWhatWasDone(t *testing.T) {
	const text = "metadata: {type: Widgets.apply.test, id: a}\nspec: {}\n---\nmetadata: {type: Widgets.apply.test, id: b}\nspec: {}\n---\n" +
		"metadata: {type: Widgets.apply.test, id: c}\nspec: {}\n"

	w := newWorld(t)
	w.handler = apply.New(apply.Config{State: breaking{w.state, func(id string) error {
		if id == "b" {
			return w.state.Create(t.Context(), newWidget("b", 7))
		}

		return nil
	}}})

	report := w.send(text)
	assert.Equal(t, http.StatusConflict, report.Status)
	assert.Equal(t, "not all was written: 1 of 3", report.Error)
	assert.Equal(t, []apply.Outcome{apply.Created, apply.Refused, apply.NotTried}, outcomes(report))
	assert.Equal(t, "somebody else was faster: look at what has changed, then apply again", report.Results[1].Do)
	w.get("a")
	w.missing("c")

	w = newWorld(t)
	w.handler = apply.New(apply.Config{State: breaking{w.state, func(string) error { return context.DeadlineExceeded }}})
	assert.Equal(t, http.StatusInternalServerError, w.send(text).Status)
}

func TestRequestsThatAreRefused(t *testing.T) {
	const text = "metadata: {type: Widgets.apply.test, id: a}\nspec: {}\n"

	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"method":        {func(r *http.Request) { r.Method = http.MethodPut }, http.StatusMethodNotAllowed},
		"get":           {func(r *http.Request) { r.Method = http.MethodGet }, http.StatusMethodNotAllowed},
		"no type":       {func(r *http.Request) { r.Header.Del("Content-Type") }, http.StatusUnsupportedMediaType},
		"a form's type": {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusUnsupportedMediaType},
		"form":          {func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, http.StatusUnsupportedMediaType},
		"origin":        {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, http.StatusForbidden},
		"other port":    {func(r *http.Request) { r.Header.Set("Origin", "http://localhost:9") }, http.StatusForbidden},
		"site":          {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"host":          {func(r *http.Request) { r.Host = "evil.example" }, http.StatusMisdirectedRequest},
	} {
		w := newWorld(t)
		r := request(text)
		c.change(r)

		report := w.ask(r)
		assert.Equal(t, c.status, report.Status, name)
		assert.NotEmpty(t, report.Error, name)
		w.missing("a")
	}

	w := newWorld(t)
	w.handler = apply.New(apply.Config{State: w.state, MaxBytes: 8})
	assert.Equal(t, http.StatusRequestEntityTooLarge, w.send(text).Status)

	r := request(text)
	r.Header.Set("Content-Type", "application/yaml; charset=utf-8")
	r.Header.Set("Origin", "http://localhost:8080")
	assert.Equal(t, http.StatusOK, newWorld(t).ask(r).Status)
}

// Names may be anything, and come out inert.
func TestNamesAreInert(t *testing.T) {
	w := newWorld(t)

	for _, id := range []string{"<b>\"'&", "a\x1b[31m\nb", "..", "a/b?c#d", "\u202egnp", strings.Repeat("x", 10_000), ""} {
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"type": widgetType, "id": id}, "spec": map[string]any{"size": 1}})
		require.NoError(t, err)

		report := w.send(string(text)) // JSON is YAML
		require.Equal(t, http.StatusOK, report.Status, report.String())
		assert.Equal(t, api.Ref{Namespace: "shop", Type: widgetType, ID: id}, report.Results[0].Resource)
		assert.Equal(t, 1, strings.Count(report.String(), "\n"))
		assert.NotContains(t, report.String(), "\x1b")
		assert.NotContains(t, report.String(), "\u202e")
		w.get(id)
	}
}

// FuzzApply sees that no text makes it panic, and that what is refused as faulty writes nothing.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"metadata: {type: Widgets.apply.test, id: a}\nspec: {size: 1}", "&a [*a]", "metadata: &m {type: x, id: *m}", "a: 1\n---\n{", "\xff",
		"metadata: {type: Widgets.apply.test, id: a}\nspec: &s {inner: *s}", "metadata: {<<: {id: a}}", "!!binary aa", "? {a: b}\n: c",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		w := newWorld(t)
		report := w.send(text)

		if len(report.Faults) > 0 {
			assert.Equal(t, http.StatusBadRequest, report.Status)
			assert.Empty(t, report.Results)

			list, err := w.state.List(t.Context(), newWidget("", 0).Metadata())
			require.NoError(t, err)
			assert.Empty(t, list.Items)
		}
	})
}
