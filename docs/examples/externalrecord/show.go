package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/operator"
)

// show is what a user does, and sees.
func show(ctx context.Context, st state.State, elsewhere *service) error {
	fmt.Println("externalrecord/web is created")

	if err := st.Create(ctx, newRecord("web", "192.0.2.7")); err != nil {
		return err
	}

	if err := tell(ctx, st, elsewhere, ""); err != nil {
		return err
	}

	fmt.Println("the service fails, and externalrecord/web is changed")
	elsewhere.fails.Store(true)

	if err := change(ctx, st, "192.0.2.8"); err != nil {
		return err
	}

	if err := tell(ctx, st, elsewhere, "Reconcile"); err != nil {
		return err
	}

	fmt.Println("the service is back")
	elsewhere.fails.Store(false)

	if err := tell(ctx, st, elsewhere, ""); err != nil {
		return err
	}

	fmt.Println("the service fails, and externalrecord/web is torn down")
	elsewhere.fails.Store(true)

	if _, err := st.Teardown(ctx, pointer(recordType, "web")); err != nil {
		return err
	}

	if err := tell(ctx, st, elsewhere, "Finalize"); err != nil {
		return err
	}

	fmt.Println("the service is back")
	elsewhere.fails.Store(false)

	if _, err := st.WatchFor(ctx, pointer(recordType, "web"), state.WithEventTypes(state.Destroyed)); err != nil {
		return err
	}

	fmt.Printf("  externalrecord/web has gone; the service keeps %d records\n", len(elsewhere.records()))

	return nil
}

func change(ctx context.Context, st state.State, value string) error {
	_, err := safe.StateUpdateWithConflicts(ctx, st, pointer(recordType, "web"), func(record *ExternalRecord) error {
		record.TypedSpec().Value = value

		return nil
	})

	return err
}

// tell waits until the operator has looked at what is asked for now and found it ready, or has failed at something, and prints what it
// says and what the service keeps.
func tell(ctx context.Context, st state.State, elsewhere *service, failed string) error {
	record, err := safe.StateGet[*ExternalRecord](ctx, st, pointer(recordType, "web"))
	if err != nil {
		return err
	}

	var ready operator.Condition

	if _, err := st.WatchFor(ctx, pointer(recordStatusType, "web"), state.WithCondition(func(res resource.Resource) (bool, error) {
		status, _ := res.(*RecordStatus) // it is something else as long as there is none
		view := operator.Joined(record, status)
		ready, _ = view.Status.Conditions.Get(operator.Ready)

		at, _, _ := strings.Cut(ready.Message, ":")

		return !view.Stale && at == failed, nil
	})); err != nil {
		return err
	}

	fmt.Println(strings.TrimRight(fmt.Sprintf("  %s is %s: %s, %s", ready.Type, ready.Status, ready.Reason, ready.Message), ", "))
	fmt.Printf("  the service keeps %q\n", slices.Collect(maps.Values(elsewhere.records())))

	return nil
}
