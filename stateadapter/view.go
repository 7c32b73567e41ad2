package stateadapter

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
)

// Viewer is implemented by the runtimes that this engine hands to controllers.
type Viewer interface {
	// View returns a read-only view of a kind that is an input as a whole, or an output.
	View(ctx context.Context, kind resource.Kind) (cache.View, error)
}

// View returns a read-only view of a kind for the controller that r was handed to: what List would return, without
// copying anything. What it lends must not be changed, and may be kept. Of a kind that is not cached it is made by one
// List of the state. On the runtime of another engine it returns [ErrUnsupported].
func View(ctx context.Context, r controller.Reader, kind resource.Kind) (cache.View, error) {
	reader, ok := r.(Viewer)
	if !ok {
		return cache.View{}, fmt.Errorf("View: %w", ErrUnsupported)
	}

	return reader.View(ctx, kind)
}

// View implements [Viewer].
func (a *Adapter) View(ctx context.Context, kind resource.Kind) (cache.View, error) {
	key := reduced.Key{Kind: reduced.KindOf(kind)}

	if err := a.permit(List, &key, a.cfg.Declared.ReadsKind(key.Kind), ErrNotReadable); err != nil {
		return cache.View{}, err
	}

	a.cfg.Trace.Read(ctx, key, 0)

	if c := a.cached(key.Kind); c != nil {
		view, ok, err := a.newest(ctx, List, key, c)
		if err != nil {
			return cache.View{}, err
		}

		if ok {
			return view, nil
		}
	}

	a.cfg.Metrics.Read()

	list, err := a.cfg.State.List(ctx, kind)
	if err != nil {
		return cache.View{}, err
	}

	return cache.ViewOf(key.Kind, list), nil
}
