package qruntime

import (
	"context"
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/reduced"
)

// mapAll maps a resource as it is, and then with each set of labels that it has no more: whoever depended on it by a
// label has to see that this is gone. It returns what is to be reconciled if all of that went well, or else a failure and
// nothing. To be skipped with some labels is no failure, and does not keep the others from being mapped.
func (a *Adapter) mapAll(ctx context.Context, logger *zap.Logger, key reduced.Key, facts *reduced.Facts) (items []item, skipped error) {
	former, _ := facts.FormerLabels()

	for _, labels := range append([]resource.Labels{*facts.Labels()}, former...) {
		var err error

		switch items, err = a.mapOnce(ctx, logger, items, reduced.About(key, facts.WithLabels(labels))); {
		case err == nil:
		case a.cfg.Skipped(err):
			skipped = err
		default:
			return nil, err
		}
	}

	return items, skipped
}

// mapOnce appends what the controller maps the resource to. It is checked as a whole.
func (a *Adapter) mapOnce(ctx context.Context, logger *zap.Logger, items []item, md reduced.Metadata) ([]item, error) {
	a.cfg.Metrics.Maps()

	pointers, err := a.cfg.Controller.MapInput(ctx, logger, a.cfg.Runtime, &md)
	if err != nil {
		return items, err
	}

	items = slices.Grow(items, len(pointers))

	for i, ptr := range pointers {
		if ptr == nil {
			return items, fmt.Errorf("MapInput returned a nil pointer at index %d", i)
		}

		it, err := a.inputs.primary(reduced.KeyOf(ptr))
		if err != nil {
			return items, fmt.Errorf("MapInput returned a wrong pointer at index %d: %w", i, err)
		}

		items = append(items, it)
	}

	return items, nil
}
