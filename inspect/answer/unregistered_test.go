package answer_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// What a controller has done that was unregistered since is forgotten together with it, and was not done from outside.
func TestUnregisteredWriters(t *testing.T) {
	inLives(t, func(l *lives) {
		require.NoError(l, l.engine.RegisterController(&conformance.StrToSentenceController{SourceNamespace: "target", TargetNamespace: "sentences"}))
		l.later()
		l.create(conformance.NewIntResource("source", "one", 1))
		require.NoError(l, l.engine.Unregister(l.Context(), "QIntToStrController"))
		l.later()

		for range 2 {
			why, err := l.answers.WhyController("StrToSentenceController")
			require.NoError(l, err)
			l.Log(why)

			for _, root := range why.Roots {
				assert.NotEqual(l, api.RootOutside, root.Kind, root.Text)
			}

			// One of the same name does not remember it either.
			if _, err := l.engine.Passes("QIntToStrController"); err != nil {
				require.NoError(l, l.engine.RegisterQController(&conformance.QIntToStrController{SourceNamespace: "source", TargetNamespace: "target"}))
				l.later()
			}
		}
	})
}
