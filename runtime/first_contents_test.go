package runtime_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// gathered is a state whose aggregated watches hold back what they have to tell, and then tell all of it at once.
type gathered struct {
	state.CoreState

	release chan struct{}
}

func (g *gathered) WatchKindAggregated(ctx context.Context, kind resource.Kind, ch chan<- []state.Event, opts ...state.WatchKindOption) error {
	inner := make(chan []state.Event)
	if err := g.CoreState.WatchKindAggregated(ctx, kind, inner, opts...); err != nil {
		return err
	}

	go func() {
		var all []state.Event

		for {
			var sending chan<- []state.Event

			select {
			case <-g.release:
				if len(all) > 0 {
					sending = ch
				}
			default:
			}

			release := g.release
			if sending != nil || len(all) == 0 {
				release = nil
			}

			select {
			case <-ctx.Done():
				return
			case batch := <-inner:
				all = append(all, batch...)
			case <-release:
			case sending <- all:
				all = nil
			}
		}
	}()

	return nil
}

// A resource that has changed while the first contents of its kind were on their way is worked on once, in its newest state.
func TestWhatChangesDuringTheFirstContentsIsWorkedOnOnce(t *testing.T) {
	for name, opts := range map[string][]options.Option{
		"plain": nil, "cached": {options.WithCachedResource(ns, sourceType)},
	} {
		t.Run(name, func(t *testing.T) {
			for range 50 {
				synctest.Test(t, func(t *testing.T) {
					inner := newState()
					g := &gathered{CoreState: inner, release: make(chan struct{})}
					passes := map[resource.ID]int{}

					w := newWorld(t, state.WrapCore(g), runtime.Config{Options: opts}, zaptest.NewLogger(t))
					w.register(&queued{
						name: "queue", settings: controller.QSettings{Inputs: []controller.Input{sources(controller.InputQPrimary)}},
						reconcile: func(_ context.Context, _ controller.QRuntime, ptr resource.Pointer) error {
							passes[ptr.ID()]++ // it has one worker

							return nil
						},
					})
					require.NoError(t, inner.Create(t.Context(), newSource("a", 0)))
					require.NoError(t, inner.Create(t.Context(), newSource("b", 0)))
					w.start()
					synctest.Wait()

					require.NoError(t, inner.Create(t.Context(), newSource("c", 0)))

					_, err := inner.UpdateWithConflicts(t.Context(), newSource("a", 0).Metadata(), func(res resource.Resource) error {
						res.Metadata().Labels().Set("changed", "")

						return nil
					})
					require.NoError(t, err)
					synctest.Wait()
					close(g.release)
					synctest.Wait()
					w.end()
					assert.Equal(t, map[resource.ID]int{"a": 1, "b": 1, "c": 1}, passes)
				})
			}
		})
	}
}
