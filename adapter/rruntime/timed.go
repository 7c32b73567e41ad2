package rruntime

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/stateadapter"
)

var (
	_ controller.Runtime                 = timed{}
	_ stateadapter.RunningFinalizerAdder = timed{}
)

// timed is an adapter as a controller sees it that has a deadline: the first call in a pass begins it.
type timed struct{ *Adapter }

// UpdateInputs implements [controller.Runtime].
func (t timed) UpdateInputs(inputs []controller.Input) error {
	t.begin()

	return t.Adapter.UpdateInputs(inputs)
}

// Get implements [controller.Reader].
func (t timed) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	t.begin()

	return t.Adapter.Get(ctx, ptr, opts...)
}

// List implements [controller.Reader].
func (t timed) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	t.begin()

	return t.Adapter.List(ctx, kind, opts...)
}

// ContextWithTeardown implements [controller.Reader].
func (t timed) ContextWithTeardown(ctx context.Context, ptr resource.Pointer) (context.Context, error) {
	t.begin()

	return t.Adapter.ContextWithTeardown(ctx, ptr)
}

// GetUncached implements [controller.UncachedReader].
func (t timed) GetUncached(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	t.begin()

	return t.Adapter.GetUncached(ctx, ptr, opts...)
}

// ListUncached implements [controller.UncachedReader].
func (t timed) ListUncached(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	t.begin()

	return t.Adapter.ListUncached(ctx, kind, opts...)
}

// View implements what stateadapter.View asks for.
func (t timed) View(ctx context.Context, kind resource.Kind) (cache.View, error) {
	t.begin()

	return t.Adapter.View(ctx, kind)
}

// Barrier implements what stateadapter.Barrier asks for.
func (t timed) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	t.begin()

	return t.Adapter.Barrier(ctx, kinds...)
}

// Create implements [controller.Writer].
func (t timed) Create(ctx context.Context, res resource.Resource, opts ...controller.CreateOption) error {
	t.begin()

	return t.Adapter.Create(ctx, res, opts...)
}

// Update implements [controller.Writer].
func (t timed) Update(ctx context.Context, res resource.Resource) error {
	t.begin()

	return t.Adapter.Update(ctx, res)
}

// Modify implements [controller.Writer].
func (t timed) Modify(ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption) error {
	t.begin()

	return t.Adapter.Modify(ctx, empty, update, opts...)
}

// ModifyWithResult implements [controller.Writer].
func (t timed) ModifyWithResult(
	ctx context.Context, empty resource.Resource, update func(resource.Resource) error, opts ...controller.ModifyOption,
) (resource.Resource, error) {
	t.begin()

	return t.Adapter.ModifyWithResult(ctx, empty, update, opts...)
}

// Teardown implements [controller.Writer].
func (t timed) Teardown(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) (bool, error) {
	t.begin()

	return t.Adapter.Teardown(ctx, ptr, opts...)
}

// Destroy implements [controller.Writer].
func (t timed) Destroy(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) error {
	t.begin()

	return t.Adapter.Destroy(ctx, ptr, opts...)
}

// AddFinalizer implements [controller.Writer].
func (t timed) AddFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	t.begin()

	return t.Adapter.AddFinalizer(ctx, ptr, fins...)
}

// AddFinalizerIfRunning implements [stateadapter.RunningFinalizerAdder].
func (t timed) AddFinalizerIfRunning(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	t.begin()

	return t.Adapter.AddFinalizerIfRunning(ctx, ptr, fins...)
}

// RemoveFinalizer implements [controller.Writer].
func (t timed) RemoveFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	t.begin()

	return t.Adapter.RemoveFinalizer(ctx, ptr, fins...)
}

// StartTrackingOutputs implements [controller.OutputTracker].
func (t timed) StartTrackingOutputs() {
	t.begin()
	t.Adapter.StartTrackingOutputs()
}

// CleanupOutputs implements [controller.OutputTracker].
func (t timed) CleanupOutputs(ctx context.Context, outputs ...resource.Kind) error {
	t.begin()

	return t.Adapter.CleanupOutputs(ctx, outputs...)
}
