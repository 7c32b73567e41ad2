package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/contain"
)

// resync has all resources of a kind reconciled, now and at each interval, until the context ends. A list that fails is
// tried again after a backoff: an interval may be long, or there may be none.
func (m *Manager) resync(ctx context.Context, kind resource.Type, controller *Controller[Ref]) {
	retry := backoff.NewRetry(backoff.Authoring(), math.MaxInt64, nil)

	for {
		next := m.cfg.resync
		began := m.cfg.clock.Now()

		err := contain.Call(func() error { return m.sweep(ctx, kind, controller) })

		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			retry.Reset()
		default:
			if _, delay := retry.Failed(0); next == 0 || delay < next {
				next = delay
			}

			m.cfg.logger.Error("resync failed and will be tried again",
				append(contain.Fields(err), zap.String("kind", kind), zap.Duration("next_try_in", next))...)
		}

		if next == 0 || !backoff.Sleep(ctx, m.cfg.clock, max(next-m.cfg.clock.Since(began), time.Millisecond)) {
			return
		}
	}
}

// sweep lists the resources of a kind and has them reconciled. Where one namespace can not be listed, others are.
func (m *Manager) sweep(ctx context.Context, kind resource.Type, controller *Controller[Ref]) error {
	scopes, err := m.scopes(ctx, kind, controller)
	if err != nil {
		return err
	}

	var failed []error

	for _, scope := range scopes {
		list, err := m.state.List(ctx, resource.NewMetadata(scope, kind, "", resource.VersionUndefined))
		if err != nil {
			failed = append(failed, fmt.Errorf("listing %s in namespace %q: %w", kind, scope, err))

			continue
		}

		for _, res := range list.Items {
			controller.Queue().Add(RefOf(res.Metadata()))
		}
	}

	return errors.Join(failed...)
}

// scopes returns the namespaces in which resources of a kind are.
func (m *Manager) scopes(ctx context.Context, kind resource.Type, controller *Controller[Ref]) ([]resource.Namespace, error) {
	if len(controller.cfg.scopes) > 0 {
		return controller.cfg.scopes, nil
	}

	ptr := resource.NewMetadata(meta.NamespaceName, meta.ResourceDefinitionType, strings.ToLower(kind), resource.VersionUndefined)

	res, err := m.state.Get(ctx, ptr)
	if err != nil {
		return nil, fmt.Errorf("the namespace of %s is not known, since its definition can not be read: %w; "+
			"register the definition, or name namespaces with WithScopes", kind, err)
	}

	definition, ok := res.(*meta.ResourceDefinition)
	if !ok {
		return nil, fmt.Errorf("the namespace of %s is not known, since its definition is a %T; name namespaces with WithScopes", kind, res)
	}

	return []resource.Namespace{definition.TypedSpec().DefaultNamespace}, nil
}
