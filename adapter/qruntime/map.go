package qruntime

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/reduced"
)

// mapAll maps a resource as it is, and then with each set of labels that it has no more: whoever depended on it by a
// label has to see that this is gone. It returns what is to be reconciled if all of that went well, or else a failure and
// nothing. To be skipped with some labels is no failure, and does not keep the others from being mapped.
func (a *Adapter) mapAll(ctx context.Context, logger *zap.Logger, md *reduced.Metadata) (keys []reduced.Key, skipped error) {
	former, _ := md.FormerLabels()

	for _, labels := range append([]resource.Labels{*md.Labels()}, former...) {
		var err error

		switch keys, err = a.mapOnce(ctx, logger, keys, reduced.About(md.Key(), md.WithLabels(labels))); {
		case err == nil:
		case a.cfg.Skipped(err):
			skipped = err
		default:
			return nil, err
		}
	}

	return keys, skipped
}

// mapOnce appends what the controller maps the resource to. It is checked as a whole.
func (a *Adapter) mapOnce(ctx context.Context, logger *zap.Logger, keys []reduced.Key, md reduced.Metadata) ([]reduced.Key, error) {
	a.cfg.Metrics.MappedIn.Inc()

	pointers, err := a.cfg.Controller.MapInput(ctx, logger, a.cfg.Runtime, &md)
	if err != nil {
		return keys, err
	}

	for i, ptr := range pointers {
		if ptr == nil {
			return keys, fmt.Errorf("MapInput returned a nil pointer at index %d", i)
		}

		key := reduced.KeyOf(ptr)
		if err = a.primaries.check(key); err != nil {
			return keys, fmt.Errorf("MapInput returned a wrong pointer at index %d: %w", i, err)
		}

		keys = append(keys, key)
	}

	return keys, nil
}
