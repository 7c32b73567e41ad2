package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// start starts a form of the operator in a world whose settings have generations, and uids that are the same in each run.
func start(w *controllertest.World, form func() *operator.Controller[*Settings]) {
	uids := 0

	w.Wrap(func(core state.CoreState) state.CoreState {
		return generation.Wrap(core, generation.Config{Types: []resource.Type{settingsType}, NewUID: func() string {
			uids++

			return fmt.Sprint("uid-", uids)
		}})
	})
	w.Compare(settled)
	w.Start(func(e controller.Engine) error { return operator.Register(e, form()) })
}

// settled leaves out what two runs may differ in: when something was seen, and notes for people.
func settled(res resource.Resource) resource.Resource {
	switch res := res.(type) {
	case *operator.EventResource:
		return nil
	case *SettingsStatus:
		for i := range res.TypedSpec().Conditions {
			res.TypedSpec().Conditions[i].LastTransitionTime = time.Time{}
		}
	}

	return res
}

func change(w *controllertest.World, id resource.ID, spec SettingsSpec) {
	controllertest.Update(w, pointer(settingsType, id), func(s *Settings) { *s.TypedSpec() = spec })
}

// tearDown leaves it to the operator to destroy what it has let go of.
func tearDown(w *controllertest.World, id resource.ID) {
	_, err := w.State().Teardown(w.Context(), pointer(settingsType, id))
	require.NoError(w, err)
}

func message(w *controllertest.World, id resource.ID) string {
	return controllertest.Get[*ConfigMap](w, pointer(configMapType, id)).TypedSpec().Data["message"]
}

func reason(w *controllertest.World, id resource.ID, condition string) string {
	found, _ := controllertest.Get[*SettingsStatus](w, pointer(settingsStatusType, id)).TypedSpec().Conditions.Get(condition)

	return found.Reason
}

// lives is what may become of settings, one thing after the other.
func lives(form func() *operator.Controller[*Settings]) controllertest.Script {
	return func(w *controllertest.World) {
		start(w, form)

		w.Create(newSettings("a", "hello"), newSettings("b", "hello"))
		w.Settle()
		require.Equal(w, "hello", message(w, "a"))
		require.Equal(w, "Reconciled", reason(w, "a", operator.Ready))

		change(w, "a", SettingsSpec{Message: "later", Suspended: true})
		w.Settle()
		require.Equal(w, "hello", message(w, "a"))
		require.Equal(w, "Suspended", reason(w, "a", operator.Ready))

		change(w, "a", SettingsSpec{Message: "good bye"})
		tearDown(w, "b")
		w.Settle()
		require.Equal(w, "good bye", message(w, "a"))

		for _, typ := range []resource.Type{settingsType, configMapType, settingsStatusType} {
			controllertest.Gone(w, pointer(typ, "b"))
		}
	}
}

// hurried lets settings come, change and go while the operator is still at work, and one of them come again.
func hurried(form func() *operator.Controller[*Settings]) controllertest.Script {
	return func(w *controllertest.World) {
		start(w, form)

		w.Create(newSettings("a", ""), newSettings("b", "hello"))
		change(w, "a", SettingsSpec{Message: "hello", Suspended: true})
		tearDown(w, "b")
		change(w, "a", SettingsSpec{Message: "good bye"})

		_, err := w.State().WatchFor(w.Context(), pointer(settingsType, "b"), state.WithEventTypes(state.Destroyed))
		require.NoError(w, err)
		w.Create(newSettings("b", "again"))
		w.Settle()

		require.Equal(w, "good bye", message(w, "a"))
		require.Equal(w, "again", message(w, "b"))
	}
}

func TestFormsAreProven(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			controllertest.CrashSweep(t, lives(form))
			controllertest.AssertIdempotent(t, lives(form))
			controllertest.Confluent(t, 30, hurried(form))
			controllertest.Explore(t, controllertest.Plan{Seeds: 50}, hurried(form))
			controllertest.Explore(t, controllertest.Plan{Seeds: 100, Faults: controllertest.Storm()}, hurried(form))
		})
	}
}

// A blank message is told of, and what was made before stays until there is another one.
func TestBlankMessages(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		start(w, scope)

		w.Create(newSettings("a", " "))
		w.Settle()
		controllertest.Gone(w, pointer(configMapType, "a"))
		require.Equal(w, "InputMissing", reason(w, "a", "ConfigurationReady"))
		require.Equal(w, "DependencyNotReady", reason(w, "a", "ChecksumReady"))

		change(w, "a", SettingsSpec{Message: "hello"})
		w.Settle()
		require.Equal(w, "Otherwise", reason(w, "a", "ConfigurationReady"))

		change(w, "a", SettingsSpec{Suspended: true})
		w.Settle()
		require.Equal(w, "Suspended", reason(w, "a", operator.Ready), "suspended comes before blank")
		require.Equal(w, "hello", message(w, "a"))
	})
}

// Somebody else's change of a ConfigMap is mended, also if it is taken away.
func TestDriftIsMended(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				start(w, form)

				w.Create(newSettings("a", "hello"))
				w.Settle()

				controllertest.Update(w, pointer(configMapType, "a"), func(c *ConfigMap) { c.TypedSpec().Data["message"] = "drift" })
				w.Settle()
				require.Equal(w, "hello", message(w, "a"))

				require.NoError(w, w.State().Destroy(w.Context(), pointer(configMapType, "a"), state.WithDestroyOwner("settings")))
				w.Settle()
				require.Equal(w, "hello", message(w, "a"))
			})
		})
	}
}
