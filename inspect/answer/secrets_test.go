package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// marker is what must not be shown.
const marker = "MARKER-7c1f"

// hidden is a resource with the marker wherever contents can be.
type hidden struct {
	md   resource.Metadata
	spec hiddenSpec
}

type hiddenSpec struct {
	Password   string              `yaml:"password"`
	Conditions []map[string]string `yaml:"conditions"`
}

func (hiddenSpec) String() string { return marker }

func newHidden(kind resource.Type, id resource.ID) *hidden {
	h := &hidden{resource.NewMetadata("app", kind, id, resource.VersionUndefined), hiddenSpec{
		marker, []map[string]string{{"type": "Ready", "status": "False", "message": marker}},
	}}
	h.md.Labels().Set("label", marker)
	h.md.Annotations().Set("annotation", marker)

	return h
}

func (h *hidden) Metadata() *resource.Metadata { return &h.md }
func (h *hidden) Spec() any                    { return h.spec }

func (h *hidden) DeepCopy() resource.Resource { return &hidden{h.md.Copy(), h.spec} }

// declared is hidden, and says itself that it is sensitive.
type declared struct{ *hidden }

func (d declared) DeepCopy() resource.Resource { return declared{d.hidden.DeepCopy().(*hidden)} }

func (declared) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Declared.test", DefaultNamespace: "app", Sensitivity: meta.Sensitive}
}

// copier reads all kinds, and writes one.
type copier struct{ kinds []resource.Type }

func (*copier) Name() string { return "copier" }

func (c *copier) Inputs() (all []controller.Input) {
	for _, kind := range c.kinds {
		all = append(all, controller.Input{Namespace: "app", Type: kind, Kind: controller.InputWeak})
	}

	return all
}

func (*copier) Outputs() []controller.Output {
	return []controller.Output{{Type: "Unknown.test", Kind: controller.OutputExclusive}}
}

func (c *copier) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		for _, kind := range c.kinds {
			if _, err := r.List(ctx, resource.NewMetadata("app", kind, "", resource.VersionUndefined)); err != nil {
				return err
			}
		}

		if err := r.Modify(ctx, newHidden("Unknown.test", "made"), func(resource.Resource) error { return nil }); err != nil {
			return err
		}
	}
}

// What is sensitive, or may be, is in no document and no text, whoever says that it is.
func TestNothingSecretIsShown(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		st := state.WrapCore(namespaced.NewState(inmem.Build))
		engine, err := runtime.New(st, nil, runtime.Config{Passes: 32})
		require.NoError(t, err)

		kinds := []resource.Type{"Declared.test", "Registereds.test", "Strangers.test"}
		require.NoError(t, engine.RegisterController(&copier{kinds}))

		ctx, cancel := context.WithCancel(t.Context())

		var running sync.WaitGroup

		running.Go(func() { _ = engine.Run(ctx) })
		synctest.Wait()

		registered, err := meta.NewResourceDefinition(meta.ResourceDefinitionSpec{
			Type: "Registereds.test", DefaultNamespace: "app", Sensitivity: meta.Sensitive,
		})
		require.NoError(t, err)
		require.NoError(t, st.Create(ctx, registered))
		require.NoError(t, st.Create(ctx, declared{newHidden("Declared.test", "a")}))
		require.NoError(t, st.Create(ctx, newHidden("Registereds.test", "a")))
		require.NoError(t, st.Create(ctx, newHidden("Strangers.test", "a")))
		synctest.Wait()

		a := answer.New(answer.Config{Engine: engine, State: st})
		shows := func(doc any, err error) {
			t.Helper()
			require.NoError(t, err)

			text, err := json.Marshal(doc)
			require.NoError(t, err)
			require.NotContains(t, string(text), marker)
			require.NotContains(t, fmt.Sprint(doc), marker)
		}

		for _, ref := range []api.Ref{
			{Namespace: "app", Type: "Declared.test", ID: "a"}, {Namespace: "app", Type: "Registereds.test", ID: "a"},
			{Namespace: "app", Type: "Strangers.test", ID: "a"}, {Namespace: "app", Type: "Unknown.test", ID: "made"},
		} {
			d, err := a.Resource(ctx, ref)
			shows(d, err)
			require.True(t, d.Exists)
			require.NotEmpty(t, d.Redacted)

			why, err := a.WhyResource(ctx, ref)
			shows(why, err)

			blocked, err := a.BlockedResource(ctx, ref)
			shows(blocked, err)

			list, err := a.List(ctx, ref.Namespace, ref.Type, 10)
			shows(list, err)
		}

		overview, err := a.Overview()
		shows(overview, err)

		detail, err := a.Controller("copier")
		shows(detail, err)

		blocked, err := a.BlockedController(ctx, "copier")
		shows(blocked, err)

		passes, err := a.Passes("", 0)
		shows(passes, err)

		// The host may say that a kind without a definition is not secret.
		open := answer.New(answer.Config{Engine: engine, State: st, Show: func(kind resource.Type) bool { return kind == "Strangers.test" }})
		d, err := open.Resource(ctx, api.Ref{Namespace: "app", Type: "Strangers.test", ID: "a"})
		require.NoError(t, err)
		require.Contains(t, d.YAML, marker)
		require.Equal(t, marker, d.Says)

		cancel()
		running.Wait()
	})
}
