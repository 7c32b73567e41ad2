//go:build linux

package main_test

import (
	"encoding/json"
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
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/apply"
	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/inspect/guard"
	"github.com/switchyard-run/switchyard/runtime"
)

// The tests in this file run swy against a state of their own, with what an appliance does not have.

func init() {
	if err := protobuf.RegisterDynamic[noteSpec](noteType, &note{}); err != nil {
		panic(err)
	}

	if err := protobuf.RegisterDynamic[noteSpec](secretType, &secret{}); err != nil {
		panic(err)
	}
}

const (
	noteType   = "Notes.swy.test"
	secretType = "Secrets.swy.test"
)

type (
	note   = typed.Resource[noteSpec, noteExtension]
	secret = typed.Resource[noteSpec, secretExtension]
)

type noteSpec struct {
	Text string `yaml:"text" protobuf:"1"`
}

// DeepCopy implements the contract of typed resources.
func (s noteSpec) DeepCopy() noteSpec { return s }

type noteExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (noteExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type: noteType, DefaultNamespace: "desk", PrintColumns: []meta.PrintColumn{{Name: "Text", JSONPath: "{.text}"}},
	}
}

type secretExtension struct{}

// ResourceDefinition implements [meta.ResourceDefinitionProvider].
func (secretExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{
		Type: secretType, DefaultNamespace: "desk", Sensitivity: meta.Sensitive, PrintColumns: []meta.PrintColumn{{Name: "Text", JSONPath: "{.text}"}},
	}
}

func newNote(id, text string) *note {
	return typed.NewResource[noteSpec, noteExtension](resource.NewMetadata("desk", noteType, id, resource.VersionUndefined), noteSpec{text})
}

func newSecret(id, text string) *secret {
	return typed.NewResource[noteSpec, secretExtension](resource.NewMetadata("desk", secretType, id, resource.VersionUndefined), noteSpec{text})
}

// desk is a state with notes and secrets, offered with everything that swy asks.
func desk(t *testing.T, wrap func(http.Handler) http.Handler) (*host, state.State) {
	t.Helper()

	st := state.WrapCore(namespaced.NewState(inmem.Build))

	for _, known := range []meta.ResourceDefinitionProvider{&note{}, &secret{}, &meta.ResourceDefinition{}} {
		definition, err := meta.NewResourceDefinition(known.ResourceDefinition())
		require.NoError(t, err)
		require.NoError(t, st.Create(t.Context(), definition))
	}

	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 8})
	require.NoError(t, err)

	pages := inspect.New(inspect.Config{Engine: engine, State: st})
	t.Cleanup(pages.Close)

	mux := http.NewServeMux()
	mux.Handle("/inspect/", http.StripPrefix("/inspect", pages))
	mux.Handle("/apply", apply.New(apply.Config{State: st}))

	h := serve(t, st)
	h.pages(httptest.NewServer(wrap(mux)))

	return h, st
}

func open(next http.Handler) http.Handler { return next }

// hostile are names that mean something to whoever does not take care.
var hostile = []string{
	"<script>alert(1)</script>", `"quoted" 'and' so`, "two\nlines", "\x1b[31mred\x1b]0;title\a", "\u202egnp.exe", "..", "a/b?c#d&e=f",
	strings.Repeat("long", 2500), "~", "12", "$(id)", "ünïcode",
}

// Any name is found again, and does nothing to a terminal.
func TestHostileNames(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)

	for _, id := range hostile {
		require.NoError(t, st.Create(t.Context(), newNote(id, id)))
	}

	inert := func(text string) string {
		for _, bad := range []string{"\x1b", "\a", "\u202e"} {
			assert.NotContains(t, text, bad)
		}

		return text
	}

	assert.Equal(t, len(hostile)+1, strings.Count(inert(h.ok("get", "notes")), "\n"), "one line for each")
	inert(h.ok("get", "notes", "-o", "yaml"))
	inert(h.ok("get", "notes", "-o", "json"))

	for _, id := range hostile {
		var found struct {
			Metadata struct{ ID string }
			Spec     struct{ Text string }
		}

		require.NoError(t, json.Unmarshal([]byte(inert(h.ok("get", "-o", "json", "--", "note", id))), &found))
		assert.Equal(t, id, found.Metadata.ID)
		assert.Equal(t, id, found.Spec.Text)

		inert(h.ok("why", "note", id))
		inert(h.ok("blocked", "note", id))

		code, _, stderr := h.run("get", "note", id+"x")
		assert.Equal(t, 1, code)
		inert(stderr)

		// What is shown can be applied.
		code, stdout, stderr := h.pipe(h.ok("get", "note", id, "-o", "yaml"), "apply", "-f", "-")
		assert.Equal(t, 0, code, stderr)
		assert.Contains(t, inert(stdout), "unchanged")

		inert(h.ok("teardown", "note", id))
		inert(h.ok("destroy", "note", id))
	}

	assert.Equal(t, 1, strings.Count(h.ok("get", "note"), "\n"))
}

// What is sensitive is shown to nobody who has not asked for it, and in no table.
func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)
	s := newSecret("a", "hunter2")
	s.Metadata().Labels().Set("label", "hunter2")
	require.NoError(t, st.Create(t.Context(), s))
	require.NoError(t, st.Create(t.Context(), newNote("a", "hunter2")))

	for _, args := range [][]string{
		{"get", "secrets"}, {"get", "secret", "a"}, {"get", "secret", "a", "-o", "yaml"}, {"get", "secrets", "-o", "json"},
		{"get", "secrets", "--show-sensitive"}, {"why", "secret", "a"}, {"blocked", "secret", "a", "-o", "json"},
	} {
		assert.NotContains(t, h.ok(args...), "hunter2", args)
	}

	assert.Contains(t, h.ok("get", "secret", "a", "-o", "yaml"), "(not shown)")
	assert.Contains(t, h.ok("get", "secret", "a", "-o", "yaml", "--show-sensitive"), "text: hunter2")
	assert.Contains(t, h.ok("get", "note", "a"), "hunter2")

	// Nobody can say of a type without a definition whether it is sensitive.
	require.NoError(t, st.Destroy(t.Context(), resource.NewMetadata(meta.NamespaceName, meta.ResourceDefinitionType, strings.ToLower(noteType), resource.VersionUndefined)))
	assert.NotContains(t, h.ok("get", noteType, "-n", "desk", "-o", "yaml"), "hunter2")
}

func TestApply(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)
	require.NoError(t, st.Create(t.Context(), newNote("owned", ""), state.WithCreateOwner("Writer")))

	code, stdout, stderr := h.pipe("metadata: {type: Notes.swy.test, id: a}\nspec: {text: x}\n---\nmetadata: {type: Notes.swy.test, id: b}\nspec: {text: y}\n", "apply", "-f", "-")
	assert.Equal(t, 0, code, stderr)
	assert.Equal(t, "Notes.swy.test(desk/a) created\nNotes.swy.test(desk/b) created\n", stdout)

	code, stdout, stderr = h.pipe(strings.ReplaceAll(h.ok("get", "notes", "-o", "yaml"), "text: x", "text: z"), "apply", "-f", "-")
	assert.Equal(t, 1, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "document 3, line 30, metadata.owner: what belongs to Writer is for it to write")

	code, _, stderr = h.pipe("metadata: {type: Notes.swy.test, id: owned}\nspec: {text: x}\n", "apply", "-f", "-")
	assert.Equal(t, 1, code)
	assert.Equal(t, "Notes.swy.test(desk/owned) refused: it belongs to Writer\n  → change what that controller makes it from\nswy: -: nothing was written\n", stderr)

	code, _, stderr = h.pipe("metadata: {type: Notes.swy.test, id: a}\nspec: {txt: x}\n", "apply", "-f", "-")
	assert.Equal(t, 1, code)
	assert.Equal(t, "document 1, line 2, spec.txt: is not known\nswy: -: nothing was written: there is a fault in the documents\n"+
		"  → mend what is wrong, and apply again\n", stderr)

	code, stdout, stderr = h.pipe(strings.ReplaceAll(h.ok("get", "note", "a", "-o", "yaml"), "text: x", "text: z"), "apply", "-f", "-")
	assert.Equal(t, 0, code, stderr)
	assert.Equal(t, "Notes.swy.test(desk/a) configured\n", stdout)

	code, _, stderr = h.pipe("", "apply", "-f", "-", "--to", h.http)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "takes no resources (405 Method Not Allowed)")
}

// A resource that is held goes in steps.
func TestTeardownAndDestroy(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)
	require.NoError(t, st.Create(t.Context(), newNote("a", "")))
	require.NoError(t, st.AddFinalizer(t.Context(), newNote("a", "").Metadata(), "Holder"))

	code, _, stderr := h.run("destroy", "note", "a")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "it is held by Holder")

	assert.Equal(t, "Notes.swy.test(desk/a) is in teardown, and is held: swy blocked says by whom\n", h.ok("teardown", "note", "a"))
	assert.Contains(t, h.ok("blocked", "note", "a"), `the finalizer "Holder" on Notes.swy.test(desk/a) is orphaned`)

	require.NoError(t, st.RemoveFinalizer(t.Context(), newNote("a", "").Metadata(), "Holder"))
	assert.Contains(t, h.ok("teardown", "note", "a"), "nobody holds it")
	assert.Equal(t, "Notes.swy.test(desk/a) is destroyed\n", h.ok("destroy", "note", "a"))
}

// A watch shows what happens, as long as the selector matches.
func TestWatch(t *testing.T) {
	t.Parallel()

	h, st := desk(t, open)
	watch := h.begin("get", "notes", "-w", "-l", "app")

	watch.stdout.wait(t, "EVENT       NAMESPACE   ID   VERSION   PHASE   TEXT")

	for _, id := range []string{"a", "b"} {
		n := newNote(id, "x")
		if id == "a" {
			n.Metadata().Labels().Set("app", "1")
		}

		require.NoError(t, st.Create(t.Context(), n))
	}

	watch.stdout.wait(t, "created")

	n := newNote("a", "y")
	n.Metadata().Labels().Set("app", "1")
	current, err := st.Get(t.Context(), n.Metadata())
	require.NoError(t, err)
	n.Metadata().SetVersion(current.Metadata().Version())
	require.NoError(t, st.Update(t.Context(), n))
	watch.stdout.wait(t, "updated")

	require.NoError(t, st.Destroy(t.Context(), n.Metadata()))
	watch.stdout.wait(t, "destroyed")
	watch.end(0)

	assert.Equal(t, 4, strings.Count(watch.stdout.String(), "\n"), watch.stdout)
}

// A token is asked for, read from a file, and sent to nobody who leads elsewhere.
func TestToken(t *testing.T) {
	t.Parallel()

	token, err := guard.NewToken("0123456789abcdef0123456789abcdef")
	require.NoError(t, err)

	h, _ := desk(t, func(next http.Handler) http.Handler { return guard.RequireToken(token, next) })
	right, wrong := h.file("right", "0123456789abcdef0123456789abcdef\n"), h.file("wrong", "fedcba9876543210fedcba9876543210")

	for _, args := range [][]string{{"controllers"}, {"top", "--count", "1"}, {"why", "note", "a"}, {"apply", "-f", right}} {
		code, _, stderr := h.run(args...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, stderr, "asks for a token", args)
		assert.Contains(t, stderr, "name the file with --token-file or SWY_TOKEN_FILE", args)

		code, _, stderr = h.run(append(args, "--token-file", wrong)...)
		assert.Equal(t, 1, code, args)
		assert.Contains(t, stderr, "does not take the token", args)
		assert.NotContains(t, stderr, "fedcba", args)
	}

	h.ok("controllers", "-token-file", right)
}
