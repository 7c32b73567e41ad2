package examples_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// counted counts the calls of a state, but for watches.
type counted struct {
	state.CoreState

	reads, writes int
}

func (c *counted) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	c.reads++

	return c.CoreState.Get(ctx, ptr, opts...)
}

func (c *counted) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	c.reads++

	return c.CoreState.List(ctx, kind, opts...)
}

func (c *counted) Create(ctx context.Context, res resource.Resource, opts ...state.CreateOption) error {
	c.writes++

	return c.CoreState.Create(ctx, res, opts...)
}

func (c *counted) Update(ctx context.Context, res resource.Resource, opts ...state.UpdateOption) error {
	c.writes++

	return c.CoreState.Update(ctx, res, opts...)
}

func (c *counted) Destroy(ctx context.Context, ptr resource.Pointer, opts ...state.DestroyOption) error {
	c.writes++

	return c.CoreState.Destroy(ctx, ptr, opts...)
}

// What the page says that passes cost: reads and writes of the state, of all passes until the controller is at rest again.
func TestWhatPassesCost(t *testing.T) {
	withStatus := func(c *operator.Controller[*Host]) { operator.Status[Published, hostStatusDefinition](c) }

	for name, test := range map[string]struct {
		with                           func(*operator.Controller[*Host])
		created, rest, changed, ending string
	}{
		"a child": {
			func(c *operator.Controller[*Host]) { c.WithoutEvents() },
			"9 reads, 2 writes", "2 reads, 0 writes", "4 reads, 1 writes", "8 reads, 3 writes",
		},
		"a child and a status": {
			func(c *operator.Controller[*Host]) { withStatus(c.WithoutEvents()) },
			"12 reads, 3 writes", "3 reads, 0 writes", "6 reads, 2 writes", "11 reads, 5 writes",
		},
		"a child, a status and events": {
			withStatus,
			"13 reads, 4 writes", "3 reads, 0 writes", "6 reads, 2 writes", "11 reads, 5 writes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			controllertest.Run(t, func(w *controllertest.World) {
				calls := &counted{}

				w.Wrap(func(core state.CoreState) state.CoreState {
					return generation.Wrap(core, generation.Config{Types: []resource.Type{hostType}})
				})
				w.Through(func(core state.CoreState) (state.CoreState, func()) {
					calls.CoreState = core

					return calls, func() {}
				})
				w.Start(func(e controller.Engine) error {
					c := keeper().WithoutDestroyer()
					test.with(c)

					ctrl, err := c.Build()
					if err != nil {
						return err
					}

					return e.RegisterQController(ctrl)
				})

				// The first pass of a process learns which children there are, with a list of each kind.
				w.Create(newHost("first", ""))
				w.Settle()
				w.Destroy(newHost("first", "").Metadata())
				w.Settle()

				calls.reads, calls.writes = 0, 0

				costs := func(want, after string) {
					w.Settle()
					assert.Equal(w, want, fmt.Sprintf("%d reads, %d writes", calls.reads, calls.writes), after)

					calls.reads, calls.writes = 0, 0
				}

				w.Create(newHost("web", "192.0.2.7"))
				costs(test.created, "a primary is created")

				w.WakeAll()
				costs(test.rest, "nothing has changed")

				controllertest.Update(w, newHost("web", "").Metadata(), func(host *Host) { host.TypedSpec().Value = "192.0.2.8" })
				costs(test.changed, "what is asked for has changed")

				_, err := w.State().Teardown(w.Context(), newHost("web", "").Metadata())
				require.NoError(w, err)
				costs(test.ending, "the primary is torn down")
			})
		})
	}
}
