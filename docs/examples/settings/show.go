package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/operator"
)

// show is what a user does, and sees.
func show(ctx context.Context, st state.State) error {
	fmt.Println("settings/web is created")

	if err := st.Create(ctx, newSettings("web", "hello")); err != nil {
		return err
	}

	if err := tell(ctx, st, "web"); err != nil {
		return err
	}

	for _, change := range []struct {
		what string
		do   func(*SettingsSpec)
	}{
		{"is suspended", func(s *SettingsSpec) { s.Suspended = true }},
		{"goes on without a message", func(s *SettingsSpec) { s.Suspended, s.Message = false, " " }},
		{"has another message", func(s *SettingsSpec) { s.Message = "good bye" }},
	} {
		fmt.Println("settings/web", change.what)

		if _, err := safe.StateUpdateWithConflicts(ctx, st, pointer(settingsType, "web"), func(s *Settings) error {
			change.do(s.TypedSpec())

			return nil
		}); err != nil {
			return err
		}

		if err := tell(ctx, st, "web"); err != nil {
			return err
		}
	}

	fmt.Println("settings/web is torn down")

	return remove(ctx, st, "web")
}

// tell waits until the operator has looked at what is asked for now, and prints what it says and has made.
func tell(ctx context.Context, st state.State, id resource.ID) error {
	settings, err := safe.StateGet[*Settings](ctx, st, pointer(settingsType, id))
	if err != nil {
		return err
	}

	var view operator.View[*Settings, Checksum]

	if _, err := st.WatchFor(ctx, pointer(settingsStatusType, id), state.WithCondition(func(res resource.Resource) (bool, error) {
		status, _ := res.(*SettingsStatus) // it is something else as long as there is none
		view = operator.Joined(settings, status)

		return !view.Stale, nil
	})); err != nil {
		return err
	}

	for _, condition := range view.Status.Conditions {
		fmt.Println(strings.TrimRight(fmt.Sprintf("  %s is %s: %s, %s", condition.Type, condition.Status, condition.Reason, condition.Message), ", "))
	}

	config, err := safe.StateGet[*ConfigMap](ctx, st, pointer(configMapType, id))
	if err != nil {
		return err
	}

	fmt.Printf("  configmap/%s says %q", id, config.TypedSpec().Data["message"])

	if sum := view.Status.Data.SHA256; sum != "" {
		fmt.Printf(", its checksum is %.8s", sum)
	}

	fmt.Println()

	return nil
}

// remove tears settings down, waits until they are gone, and counts what is left of them.
func remove(ctx context.Context, st state.State, id resource.ID) error {
	if _, err := st.Teardown(ctx, pointer(settingsType, id)); err != nil {
		return err
	}

	if _, err := st.WatchFor(ctx, pointer(settingsType, id), state.WithEventTypes(state.Destroyed)); err != nil {
		return err
	}

	configs, err := safe.StateListAll[*ConfigMap](ctx, st)
	if err != nil {
		return err
	}

	statuses, err := safe.StateListAll[*SettingsStatus](ctx, st)
	if err != nil {
		return err
	}

	fmt.Printf("  gone; there are %d configmaps and %d statuses\n", configs.Len(), statuses.Len())

	return nil
}
