package qruntime_test

import (
	"context"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// What a pass logs names its resource and the controller, also when somebody has kept the logger and the worker has gone
// on to another item.
func TestLoggerOfAPass(t *testing.T) {
	t.Parallel()

	var kept []*zap.Logger

	inBubble(t, func(_ *testing.T, b *bench) {
		b.withLogger = func(logger *zap.Logger) {
			logger.Info("in the pass", zap.Int("n", 1))
			logger.With(zap.String("part", "a")).Named("name").Warn("derived")

			kept = append(kept, logger)
		}

		b.mapInput = func(context.Context, controller.ReducedResourceMetadata) ([]resource.Pointer, error) { return nil, nil }
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		require.Len(t, b.passes(), 1)
		b.changeMapped("s")
		require.Len(t, b.passes(), 1)

		for _, logger := range kept {
			logger.Info("later")
			require.NoError(t, logger.Sync())
		}

		of := func(typ, id string) map[string]any {
			return map[string]any{"controller": b.name, "namespace": "n", "type": typ, "id": id}
		}

		with := func(fields map[string]any, key string, value any) map[string]any {
			fields[key] = value

			return fields
		}

		const ints, strs = "test/int", "test/str"

		for message, want := range map[string][]map[string]any{
			"in the pass": {with(of(ints, "a"), "n", int64(1)), with(of(strs, "s"), "n", int64(1))},
			"derived":     {with(of(ints, "a"), "part", "a"), with(of(strs, "s"), "part", "a")},
			"later":       {of(ints, "a"), of(strs, "s")},
		} {
			lines := b.logs.FilterMessage(message).All()
			require.Len(t, lines, len(want), message)

			for i, line := range lines {
				require.Equal(t, want[i], line.ContextMap(), message)
				require.Len(t, line.Context, len(want[i]), "each field once")
			}
		}
	})
}

// A level that is switched off stays so.
func TestLoggerOfAPassKeepsItsLevel(t *testing.T) {
	t.Parallel()

	inBubble(t, func(_ *testing.T, b *bench) {
		b.level = zap.WarnLevel
		b.withLogger = func(logger *zap.Logger) {
			require.False(t, logger.Core().Enabled(zap.InfoLevel))
			require.Nil(t, logger.Check(zap.InfoLevel, "unheard"))
			logger.Info("unheard")
			logger.Warn("heard")
		}
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a")
		require.Len(t, b.passes(), 1)
		require.Equal(t, 1, b.logs.Len())
		require.Equal(t, "heard", b.logs.All()[0].Message)
	})
}

// Where nothing is written anyway, no pass has a logger of its own.
func TestLoggerThatWritesNothing(t *testing.T) {
	t.Parallel()

	var handed []*zap.Logger

	inBubble(t, func(_ *testing.T, b *bench) {
		b.logger = zap.NewNop()
		b.withLogger = func(logger *zap.Logger) { handed = append(handed, logger) }
	}, func(t *testing.T, b *bench) {
		b.Start(b.ctx)
		b.change("a", "b")
		require.Len(t, b.passes(), 2)

		for _, logger := range handed {
			require.Same(t, b.logger, logger)
		}
	})
}
