package runtime_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// transient writes once when it is started, if it is to.
type transient struct {
	name   string
	writes bool
}

func (t *transient) Name() string { return t.name }

func (*transient) Inputs() []controller.Input { return nil }

func (*transient) Outputs() []controller.Output {
	return []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputShared}}
}

func (t *transient) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	<-r.EventCh()

	if t.writes {
		if err := r.Create(ctx, conformance.NewStrResource("default", t.name, "")); err != nil {
			return err
		}
	}

	<-ctx.Done()

	return nil
}

// However many writers come and go, it is known that what they did is forgotten, and of which type it may have been.
func TestBookKnowsOfUnregisteredWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, err := runtime.New(state.WrapCore(namespaced.NewState(inmem.Build)), zap.NewNop(), runtime.Config{})
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		go func() { done <- engine.Run(ctx) }()

		synctest.Wait()

		of := func(typ resource.Type) reduced.Key {
			return reduced.Key{Kind: reduced.Kind{Namespace: "default", Type: typ}, ID: "x"}
		}

		passes := func(name string, writes bool) {
			require.NoError(t, engine.RegisterController(&transient{name, writes}))
			synctest.Wait()
			require.NoError(t, engine.Unregister(ctx, name))
		}

		passes("reader", false)
		assert.False(t, engine.Book().Forgets(of(conformance.StrResourceType), time.Time{}), "it has done nothing")

		passes("writer", true)
		assert.True(t, engine.Book().Forgets(of(conformance.StrResourceType), time.Now()))
		assert.False(t, engine.Book().Forgets(of(conformance.IntResourceType), time.Time{}))

		time.Sleep(time.Second)
		assert.False(t, engine.Book().Forgets(of(conformance.StrResourceType), time.Now()), "it was gone by then")

		for i := range 1001 {
			passes(fmt.Sprint("writer", i), true)
		}

		assert.True(t, engine.Book().Forgets(of(conformance.StrResourceType), time.Now()))
		assert.True(t, engine.Book().Forgets(of(conformance.IntResourceType), time.Now()), "they are not told apart any more")

		cancel()
		require.NoError(t, <-done)
	})
}
