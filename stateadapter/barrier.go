package stateadapter

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// Barrierer is implemented by the runtimes that this engine hands to controllers, and by what its CachedState returns.
type Barrierer interface {
	// Barrier returns when the caches of the kinds show everything that was written before the call.
	Barrier(ctx context.Context, kinds ...resource.Kind) error
}

// Barrier returns when the caches of the kinds show everything that was written before the call, by anybody. It is for a
// controller that combines kinds, and is not content to be woken again for what it has not seen yet; r is what it was
// handed. It costs a short watch for each kind that is cached, and nothing for others. A controller may wait for what it
// may list. On the runtime of another engine it returns [ErrUnsupported].
func Barrier(ctx context.Context, r controller.Reader, kinds ...resource.Kind) error {
	b, ok := r.(Barrierer)
	if !ok {
		return fmt.Errorf("Barrier: %w", ErrUnsupported)
	}

	return b.Barrier(ctx, kinds...)
}

// Barrier implements [Barrierer].
func (a *Adapter) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	for _, kind := range kinds {
		key := reduced.Key{Kind: reduced.KindOf(kind)}

		if err := a.permit(List, &key, a.cfg.Declared.ReadsKind(key.Kind), ErrNotReadable); err != nil {
			return err
		}
	}

	if err := a.cfg.Barrier(ctx, kinds...); err != nil {
		return fmt.Errorf("controller %q: %w", a.cfg.Name, err)
	}

	return nil
}
