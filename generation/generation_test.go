package generation_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/conformance"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/stretchr/testify/suite"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/generation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ns      = resource.Namespace("default")
	foosOf  = resource.Type("Foos.test.switchyard.run")
	barsOf  = resource.Type("Bars.test.switchyard.run")
	forever = "12345"
)

type spec struct{ Value string }

func (s spec) DeepCopy() spec { return s }

type fooExtension struct{}

func (fooExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: foosOf, DefaultNamespace: ns}
}

type foo = typed.Resource[spec, fooExtension]

func newFoo(id resource.ID, value string) *foo {
	return typed.NewResource[spec, fooExtension](resource.NewMetadata(ns, foosOf, id, resource.VersionUndefined), spec{value})
}

func newState() state.CoreState { return namespaced.NewState(inmem.Build) }

// counting returns uids in order.
func counting() func() string {
	n := 0

	return func() string {
		n++

		return "uid-" + strconv.Itoa(n)
	}
}

// world is a state with stamps on foos.
type world struct {
	state.State

	t tester
}

// tester is a test, or one case of a property.
type tester interface {
	require.TestingT
	Context() context.Context
}

func wrap(t tester, core state.CoreState) world {
	return world{state.WrapCore(generation.Wrap(core, generation.Config{Types: []resource.Type{foosOf}, NewUID: counting()})), t}
}

func (w world) get(id resource.ID) *foo {
	res, err := w.Get(w.t.Context(), newFoo(id, "").Metadata())
	require.NoError(w.t, err)

	return res.(*foo)
}

func (w world) requireStamps(id resource.ID, gen int64, uid string) {
	res := w.get(id)
	require.Equal(w.t, gen, generation.Of(res))
	require.Equal(w.t, uid, generation.UID(res))
}

func (w world) change(id resource.ID, change func(*foo), opts ...state.UpdateOption) {
	_, err := w.UpdateWithConflicts(w.t.Context(), newFoo(id, "").Metadata(), func(res resource.Resource) error {
		change(res.(*foo))

		return nil
	}, opts...)
	require.NoError(w.t, err)
}

// What is asked for moves the generation, and nothing else does, whoever says what.
func TestGenerationMovesWithTheSpec(t *testing.T) {
	t.Parallel()

	w := wrap(t, newState())
	ctx := t.Context()
	ptr := newFoo("a", "").Metadata()

	created := newFoo("a", "one")
	created.Metadata().Annotations().Set(generation.Annotation, forever)
	created.Metadata().Annotations().Set(generation.UIDAnnotation, "forged")
	require.NoError(t, w.Create(ctx, created))
	require.EqualValues(t, 1, generation.Of(created))
	w.requireStamps("a", 1, "uid-1")

	require.NoError(t, w.AddFinalizer(ctx, ptr, "fin"))
	w.change("a", func(f *foo) { f.Metadata().Labels().Set("label", "value") })
	w.requireStamps("a", 1, "uid-1")

	w.change("a", func(f *foo) { f.TypedSpec().Value = "two" })
	w.requireStamps("a", 2, "uid-1")

	w.change("a", func(f *foo) { f.Metadata().Annotations().Set(generation.Annotation, forever) })
	w.requireStamps("a", 2, "uid-1")

	w.change("a", func(f *foo) { f.Metadata().Annotations().Delete(generation.Annotation) })
	w.change("a", func(f *foo) { f.Metadata().Annotations().Delete(generation.UIDAnnotation) })
	w.requireStamps("a", 2, "uid-1")

	_, err := w.Teardown(ctx, ptr)
	require.NoError(t, err)
	w.requireStamps("a", 2, "uid-1")

	require.NoError(t, w.RemoveFinalizer(ctx, ptr, "fin"))
	require.NoError(t, w.Destroy(ctx, ptr))
	require.NoError(t, w.Create(ctx, newFoo("a", "two")))
	w.requireStamps("a", 1, "uid-2")
}

// What was read of a former life is not written over the present one, even where the versions are the same.
func TestUpdatesOfAFormerLifeAreConflicts(t *testing.T) {
	t.Parallel()

	w := wrap(t, newState())
	ctx := t.Context()

	require.NoError(t, w.Create(ctx, newFoo("a", "one")))

	read := w.get("a")

	require.NoError(t, w.Destroy(ctx, read.Metadata()))
	require.NoError(t, w.Create(ctx, newFoo("a", "other")))

	read.TypedSpec().Value = "late"

	err := w.Update(ctx, read)
	require.True(t, state.IsConflictError(err))
	require.True(t, state.IsConflictError(err, state.WithResourceType(foosOf)))
	require.ErrorContains(t, err, `the update is of "uid-1", and it is "uid-2" now`)
	require.Equal(t, "other", w.get("a").TypedSpec().Value)
}

// interrupted calls something between the read and the write of an update.
type interrupted struct {
	state.CoreState

	before func()
}

func (i *interrupted) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	if before := i.before; before != nil {
		i.before = nil

		before()
	}

	return i.CoreState.Update(ctx, res, opts...)
}

// A life that begins while the former one is updated gets stamps of its own.
func TestLivesThatBeginDuringAnUpdate(t *testing.T) {
	t.Parallel()

	for name, then := range map[string]func(w world, st *interrupted){
		"nothing more": func(world, *interrupted) {},
		"and is changed": func(w world, st *interrupted) {
			st.before = func() { w.change("a", func(f *foo) { f.Metadata().Labels().Set("a", "b") }) }
		},
		"and ends": func(w world, st *interrupted) {
			st.before = func() { require.NoError(w.t, st.Destroy(w.t.Context(), newFoo("a", "").Metadata())) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := &interrupted{CoreState: newState()}
			w := wrap(t, st)
			ctx := t.Context()

			require.NoError(t, w.Create(ctx, newFoo("a", "one")))

			st.before = func() {
				require.NoError(t, w.Destroy(ctx, newFoo("a", "").Metadata()))
				require.NoError(t, w.Create(ctx, newFoo("a", "other")))
				then(w, st)
			}

			res := newFoo("a", "two")
			res.Metadata().SetVersion(resource.VersionUndefined.Next())
			require.NoError(t, w.Update(ctx, res))

			list, err := w.List(ctx, res.Metadata())
			require.NoError(t, err)

			for _, res := range list.Items {
				assert.NotEqual(t, "uid-1", generation.UID(res))
				assert.NotEmpty(t, generation.UID(res))
				assert.EqualValues(t, 2, generation.Of(res))
			}
		})
	}
}

// A write that fails leaves what it was given as it was.
func TestFailedWritesLeaveNoStamps(t *testing.T) {
	t.Parallel()

	w := wrap(t, newState())
	ctx := t.Context()

	require.NoError(t, w.Create(ctx, newFoo("a", "one")))

	again := newFoo("a", "two")
	require.True(t, state.IsConflictError(w.Create(ctx, again)))
	require.Zero(t, generation.Of(again))
	require.Empty(t, again.Metadata().Annotations().Raw())

	missing := newFoo("b", "two")
	require.True(t, state.IsNotFoundError(w.Update(ctx, missing)))
	require.Empty(t, missing.Metadata().Annotations().Raw())

	require.True(t, state.IsConflictError(w.Update(ctx, again)))
	require.Empty(t, again.Metadata().Annotations().Raw())
}

// Other types, and what was there before, have no stamps.
func TestWhatIsNotStamped(t *testing.T) {
	t.Parallel()

	core := newState()
	ctx := t.Context()

	require.NoError(t, core.Create(ctx, newFoo("before", "one")))

	w := wrap(t, core)
	w.change("before", func(f *foo) { f.TypedSpec().Value = "two" })
	w.requireStamps("before", 0, "")

	path := conformance.NewPathResource(ns, "path")
	require.NoError(t, w.Create(ctx, path))

	res, err := w.Get(ctx, path.Metadata())
	require.NoError(t, err)
	require.Zero(t, generation.Of(res))
	require.Empty(t, generation.UID(res))

	for text, want := range map[string]int64{"": 0, "x": 0, "-1": 0, "7": 7, "99999999999999999999": 0} {
		res := newFoo("a", "")
		res.Metadata().Annotations().Set(generation.Annotation, text)
		require.Equal(t, want, generation.Of(res), text)
	}
}

func TestUIDsAreDifferent(t *testing.T) {
	t.Parallel()

	st := generation.Wrap(newState(), generation.Config{Types: []resource.Type{foosOf}})
	seen := map[string]bool{}

	for n := range 100 {
		res := newFoo(fmt.Sprint(n), "")
		require.NoError(t, st.Create(t.Context(), res))
		require.Len(t, generation.UID(res), 26)
		seen[generation.UID(res)] = true
	}

	require.Len(t, seen, 100)
}

type tears struct{ state.CoreState }

func (tears) Teardown(context.Context, resource.Pointer, ...state.TeardownOption) (bool, error) {
	return true, nil
}

type destroys struct{ state.CoreState }

func (destroys) TeardownAndDestroy(context.Context, resource.Pointer, ...state.TeardownAndDestroyOption) error {
	return nil
}

type both struct {
	tears
	destroys
	state.CoreState
}

// The state has what the wrapped one has, and no more: the contract asks for it.
func TestOptionalInterfacesAreForwarded(t *testing.T) {
	t.Parallel()

	for _, core := range []state.CoreState{newState(), tears{newState()}, destroys{newState()}, both{CoreState: newState()}} {
		wrapped := generation.Wrap(core, generation.Config{})

		_, want := core.(state.Teardowner)
		_, got := wrapped.(state.Teardowner)
		require.Equal(t, want, got, "%T", core)

		_, want = core.(state.TeardownAndDestroyer)
		_, got = wrapped.(state.TeardownAndDestroyer)
		require.Equal(t, want, got, "%T", core)
	}
}

// The state is still one of the contract, with stamps on all types of the suite.
func TestConformance(t *testing.T) {
	t.Parallel()

	suite.Run(t, &conformance.StateSuite{
		State: state.WrapCore(generation.Wrap(newState(), generation.Config{Types: []resource.Type{conformance.PathResourceType}})),
	})
}

// Whatever is done in whatever order, the stamps are those of a plain count of lives and changes.
func TestStampsAreThoseOfAModel(t *testing.T) {
	t.Parallel()

	type life struct {
		uid        string
		generation int64
		value      string
	}

	rapid.Check(t, func(t *rapid.T) {
		w := wrap(t, newState())
		model := map[resource.ID]*life{}
		lives := 0

		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := rapid.SampledFrom([]resource.ID{"a", "b"}).Draw(t, "id")
			value := rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "value")
			now := model[id]

			switch step := rapid.SampledFrom([]string{"spec", "label", "forge", "drop", "destroy"}).Draw(t, "step"); {
			case now == nil:
				require.NoError(t, w.Create(t.Context(), newFoo(id, value)))

				lives++
				model[id] = &life{"uid-" + strconv.Itoa(lives), 1, value}
			case step == "destroy":
				require.NoError(t, w.Destroy(t.Context(), newFoo(id, "").Metadata()))
				delete(model, id)
			default:
				if step == "spec" && now.value != value {
					now.value = value
					now.generation++
				}

				w.change(id, func(f *foo) {
					switch step {
					case "spec":
						f.TypedSpec().Value = value
					case "label":
						f.Metadata().Labels().Set("label", value)
					case "forge":
						f.Metadata().Annotations().Set(generation.Annotation, value)
					case "drop":
						f.Metadata().Annotations().Delete(generation.UIDAnnotation)
					}
				})
			}

			for id, life := range model {
				w.requireStamps(id, life.generation, life.uid)
			}
		}
	})
}
