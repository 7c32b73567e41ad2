package operator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// sealed is a text that nobody is to read, and that is not every text.
type sealed string

func (s *sealed) UnmarshalText(text []byte) error {
	if *s = sealed(text); *s != "" {
		return fmt.Errorf("%q is no seal", *s)
	}

	return nil
}

type (
	safeSpec      struct{ Seal sealed }
	safeExtension struct{}
)

func (s safeSpec) DeepCopy() safeSpec { return s }

func (safeExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Safes.test.switchyard.run", DefaultNamespace: lampsIn}
}

// Texts of code that decodes what a patch makes of a spec show what is in it, and stay in the log.
func TestTextsOfDecodersStayInTheLog(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		light(w, func() *operator.Controller[*lamp] {
			c, _ := lit()
			operator.Owns[*typed.Resource[safeSpec, safeExtension]](c)

			return c.Reconcile(func(ctx context.Context, _ *lamp, c *operator.Context[*lamp]) error {
				return operator.EnsureJSON(ctx, c, &typed.Resource[safeSpec, safeExtension]{}, `{"Seal": "hunter2"}`)
			})
		})

		w.Create(newHeld("a", 1))
		w.Advance(500 * time.Millisecond)

		ready := condition(w, "a", operator.Ready)
		require.Equal(w, "Refused", ready.Reason)
		require.Contains(w, ready.Message, "can not be what the patch makes of it; the log says why")
		require.NotContains(w, ready.Message, "hunter2")
		requireNoSecrets(w)
		require.Contains(w, w.Trace().String(), `"hunter2" is no seal`)
	})
}

// A patch writes the names of fields as JSON has them. The decoder would take another case for the same, and what is merged would
// have both.
func TestPatchesWithNamesInAnotherCase(t *testing.T) {
	t.Parallel()

	controllertest.Run(t, func(w *controllertest.World) {
		startSites(w, func() operator.Definition {
			c := sites().Reconcile(func(ctx context.Context, s *site, c *operator.Context[*site]) error {
				return operator.EnsureJSON(ctx, c, &page{}, s.TypedSpec().Text)
			})
			operator.Owns[*page](c)
			operator.Status[seen, statusExtension](c)

			return c
		})

		for _, patch := range []string{`{"TEXT": "new"}`, `{"text": null}`, `{"Text": "x", "tags": {}}`} {
			w.Create(newSite("a", patch))
			w.Settle()
			siteReady(w, "a", operator.False, "Refused")

			ready, _ := getStatus(w, "a").Conditions.Get(operator.Ready)
			require.Contains(w, ready.Message, "write it like that")

			w.Destroy(newSite("a", "").Metadata())
			w.Settle()
		}

		w.Create(newSite("a", `{"Text": "new", "Tags": {"text": "a", "Text": "b"}}`))
		w.Settle()
		require.Equal(w, pageSpec{"new", map[string]string{"text": "a", "Text": "b"}}, *getPage(w, "a").TypedSpec())
	})
}
