package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
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

var errUnavailable = errors.New("the provider is not there")

// fake is the provider of a world. It survives the process of the operator, and what is in it counts as what is in the state does:
// it is compared with what it should be at the end of each script.
type fake struct {
	world *controllertest.World

	// mu guards what follows.
	mu       sync.Mutex
	fails    bool
	attempts int
	values   map[string]string
	deleted  map[string]bool
}

// Put implements [Provider].
func (f *fake) Put(_ context.Context, uid, value string) error {
	return f.call(fmt.Sprintf("put %s %s", uid, value), func() {
		if f.deleted[uid] {
			f.world.Errorf("%s is put after it was deleted: nobody will delete it again", uid)
		}

		f.values[uid] = value
	})
}

// Delete implements [Provider].
func (f *fake) Delete(_ context.Context, uid string) error {
	return f.call("delete "+uid, func() {
		delete(f.values, uid)
		f.deleted[uid] = true
	})
}

// call does something, or fails before or after it, or has the handler end in a panic: as the schedule wants it.
func (f *fake) call(what string, do func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.attempts++

	fate := f.world.Pick(fmt.Sprintf("fate of request %d", f.attempts), 8)
	if f.fails || fate == 1 {
		f.world.Logf("%s: fails", what)

		return errUnavailable
	}

	do()

	switch fate {
	case 2:
		f.world.Logf("%s: its answer is lost", what)

		return context.DeadlineExceeded
	case 3:
		f.world.Logf("%s: the handler ends there", what)
		panic("the handler ends here")
	}

	f.world.Logf("%s", what)

	return nil
}

// failing has the provider fail from now on, or not any more.
func (f *fake) failing(fails bool) {
	f.world.Do(fmt.Sprintf("has the provider fail: %t", fails), func() {
		f.mu.Lock()
		defer f.mu.Unlock()

		f.fails = fails
	})
}

// keeps compares what the provider has with what it should have.
func (f *fake) keeps(want map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	require.Equal(f.world, want, maps.Clone(f.values))
}

// start starts the operator in a world whose records have generations, and uids that are the same in each run.
func start(w *controllertest.World) *fake {
	provider := &fake{world: w, values: map[string]string{}, deleted: map[string]bool{}}
	uids := 0

	w.Wrap(func(core state.CoreState) state.CoreState {
		return generation.Wrap(core, generation.Config{Types: []resource.Type{recordType}, NewUID: func() string {
			uids++

			return fmt.Sprint("uid-", uids)
		}})
	})
	w.Compare(settled)
	w.Start(func(e controller.Engine) error { return operator.Register(e, records(provider)) })

	return provider
}

// settled leaves out what two runs may differ in: when something was seen, and notes for people.
func settled(res resource.Resource) resource.Resource {
	switch res := res.(type) {
	case *operator.EventResource:
		return nil
	case *RecordStatus:
		for i := range res.TypedSpec().Conditions {
			res.TypedSpec().Conditions[i].LastTransitionTime = time.Time{}
		}
	}

	return res
}

func set(w *controllertest.World, id resource.ID, value string) {
	controllertest.Update(w, pointer(recordType, id), func(r *ExternalRecord) { r.TypedSpec().Value = value })
}

// tearDown leaves it to the operator to destroy what it has let go of.
func tearDown(w *controllertest.World, id resource.ID) {
	_, err := w.State().Teardown(w.Context(), pointer(recordType, id))
	require.NoError(w, err)
}

// lives is what may become of records, one thing after the other.
func lives(w *controllertest.World) {
	provider := start(w)

	w.Create(newRecord("a", "one"), newRecord("b", "two"))
	w.Settle()
	provider.keeps(map[string]string{"uid-1": "one", "uid-2": "two"})

	set(w, "a", "three")
	tearDown(w, "b")
	w.Settle()
	provider.keeps(map[string]string{"uid-1": "three"})
	controllertest.Gone(w, pointer(recordType, "b"))
	controllertest.Gone(w, pointer(recordStatusType, "b"))
}

// hurried lets records come, change and go while the operator is still at work and the provider fails, and one of them come again.
func hurried(w *controllertest.World) {
	provider := start(w)

	w.Create(newRecord("b", "two"), newRecord("a", "one"))
	provider.failing(true)
	tearDown(w, "b")
	set(w, "a", "three")
	provider.failing(false)

	_, err := w.State().WatchFor(w.Context(), pointer(recordType, "b"), state.WithEventTypes(state.Destroyed))
	require.NoError(w, err)

	w.Create(newRecord("b", "four"))
	w.Settle()
	provider.keeps(map[string]string{"uid-2": "three", "uid-3": "four"})
}

func TestRecordsAreProven(t *testing.T) {
	controllertest.CrashSweep(t, lives)
	controllertest.AssertIdempotent(t, lives)
	controllertest.CrashSweep(t, hurried)
	controllertest.Confluent(t, 50, hurried)
	controllertest.Explore(t, controllertest.Plan{Seeds: 100}, hurried)
	controllertest.Explore(t, controllertest.Plan{Seeds: 200, Faults: controllertest.Storm()}, hurried)
}

// A record is held for as long as the provider can not be told, and the status says so.
func TestRecordsWaitForTheProvider(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		provider := start(w)

		w.Create(newRecord("a", "one"))
		w.Settle()

		provider.failing(true)
		tearDown(w, "a")
		controllertest.Await(w, pointer(recordStatusType, "a"), func(status *RecordStatus) error {
			if status.TypedSpec().Conditions.Holds(operator.Ready) {
				return errors.New("the status does not say that the provider fails")
			}

			return nil
		})
		provider.keeps(map[string]string{"uid-1": "one"})

		provider.failing(false)
		w.Settle()
		controllertest.Gone(w, pointer(recordType, "a"))
		provider.keeps(map[string]string{})
	})
}

// What the provider loses is put there again within a minute, though nothing has changed in the state.
func TestLostRecordsAreFound(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		provider := start(w)

		w.Create(newRecord("a", "one"))
		w.Settle()

		w.Do("has the provider lose everything", func() {
			provider.mu.Lock()
			defer provider.mu.Unlock()

			clear(provider.values)
		})
		w.Advance(time.Minute)
		provider.keeps(map[string]string{"uid-1": "one"})
	})
}

// Somebody who comes again while nobody looks is another one, and what was kept for the first is not left behind.
func TestRecordsThatGoWhileNobodyLooks(t *testing.T) {
	controllertest.Run(t, func(w *controllertest.World) {
		provider := start(w)

		w.Create(newRecord("a", "one"))
		w.Settle()

		w.Stop()
		tearDown(w, "a")
		w.Restart()
		w.Settle()
		controllertest.Gone(w, pointer(recordType, "a"))
		provider.keeps(map[string]string{})
	})
}
