package recording_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/stateadapter"
)

// chaos is what a random controller does in a pass: what it draws decides, and what it draws is in the recording.
type chaos struct {
	source rand.Source
	clock  clockwork.Clock
	// owner is the controller.
	owner string
}

var (
	errChaos = errors.New("chaos")
	// errGone is returned at once by a pass that sees that its context has ended. What one does that goes on and waits for
	// several things once more is up to chance, and in no recording.
	errGone = errors.New("gone")
)

func (c chaos) pass(ctx context.Context, r controller.QRuntime) error {
	draw := rand.New(recording.Rand(ctx, c.source))

	for range draw.IntN(6) {
		err := c.step(ctx, r, draw)
		if errors.Is(err, errGone) {
			return err
		}

		if err != nil && draw.IntN(2) == 0 {
			return fmt.Errorf("a step failed: %w", err)
		}
	}

	if draw.IntN(10) == 0 {
		return errChaos
	}

	return nil
}

func (c chaos) step(ctx context.Context, r controller.QRuntime, draw *rand.Rand) error {
	id := string(rune('a' + draw.IntN(4)))

	switch draw.IntN(15) {
	case 0:
		_, err := r.Get(ctx, number(id, 0).Metadata())

		return err
	case 1:
		list, err := r.List(ctx, numbers, state.WithLabelQuery(resource.LabelExists("odd")))
		if err == nil && len(list.Items) > 2 {
			err = errChaos
		}

		return err
	case 2:
		return r.Create(ctx, text(id, c.owner))
	case 3:
		res, err := r.GetUncached(ctx, text(id, "").Metadata())
		if err != nil {
			return err
		}

		res.(*conformance.StrResource).SetValue(fmt.Sprint(draw.IntN(3)))

		return r.Update(ctx, res)
	case 4, 5:
		return r.Modify(ctx, text(id, ""), func(res resource.Resource) error {
			if draw.IntN(8) == 0 {
				return errChaos
			}

			sum := 0

			list, err := r.List(ctx, numbers)
			for _, n := range list.Items {
				sum += n.(*conformance.IntResource).Value()
			}

			res.Metadata().Labels().Set("by", c.owner)
			res.(*conformance.StrResource).SetValue(fmt.Sprint(sum))

			return err
		})
	case 6:
		ready, err := r.Teardown(ctx, text(id, "").Metadata())
		if err != nil || !ready {
			return err
		}

		return r.Destroy(ctx, text(id, "").Metadata())
	case 7:
		return r.AddFinalizer(ctx, number(id, 0).Metadata(), c.owner)
	case 8:
		return r.RemoveFinalizer(ctx, number(id, 0).Metadata(), c.owner)
	case 9:
		view, err := stateadapter.View(ctx, r, numbers)
		if err == nil && view.Len() > 3 {
			err = errChaos
		}

		return err
	case 10:
		// It is refused.
		return r.Destroy(ctx, number(id, 0).Metadata())
	case 11:
		_, err := r.ListUncached(ctx, numbers, state.WithIDQuery(resource.IDRegexpMatch(regexp.MustCompile("^[ab]$"))))

		return err
	case 12:
		return r.Create(ctx, text("nobody's "+id, ""), controller.WithCreateNoOwner())
	case 13:
		_, err := r.Teardown(ctx, text("nobody's "+id, "").Metadata(), controller.WithOwner(""))

		return err
	default:
		clock := recording.Clock(ctx, c.clock)

		select {
		case <-clock.After(time.Duration(draw.IntN(3)) * time.Microsecond):
		case <-ctx.Done():
			return errGone
		}

		_, err := recording.Ask(ctx, "for the weather", func() (time.Time, error) { return c.clock.Now(), errChaos })

		return err
	}
}

// chaotic is a classic controller of random passes.
type chaotic struct{ chaos }

func (c *chaotic) Name() string { return c.owner }

func (c *chaotic) Inputs() []controller.Input {
	return []controller.Input{{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputStrong}}
}

func (c *chaotic) Outputs() []controller.Output {
	return []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputShared}}
}

func (c *chaotic) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := c.pass(ctx, r); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// chaoticQueue is a queue controller of random passes.
type chaoticQueue struct{ chaos }

func (c *chaoticQueue) Name() string { return c.owner }

func (c *chaoticQueue) Settings() controller.QSettings {
	return controller.QSettings{
		RunHook: func(ctx context.Context, _ *zap.Logger, r controller.QRuntime) error {
			return r.Create(ctx, text("hook of "+c.owner, ""))
		},
		Inputs: []controller.Input{
			{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
			{Namespace: ns, Type: conformance.StrResourceType, Kind: controller.InputQMapped},
		},
		Outputs:     []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputShared}},
		Concurrency: optional.Some[uint](4),
	}
}

func (c *chaoticQueue) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, _ resource.Pointer) error {
	if err := c.pass(ctx, r); err != nil {
		return controller.NewRequeueError(err, time.Millisecond)
	}

	return nil
}

func (c *chaoticQueue) MapInput(
	ctx context.Context, _ *zap.Logger, r controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	if strings.HasPrefix(md.ID(), "hook") || md.Phase() == resource.PhaseTearingDown {
		return nil, nil
	}

	if _, err := r.Get(ctx, md); state.IsNotFoundError(err) || !md.FinalizersEmpty() {
		return nil, nil
	}

	if by, ok := md.Labels().Get("by"); ok && by == c.owner {
		return nil, errChaos
	}

	return []resource.Pointer{number(md.ID(), 0).Metadata()}, nil
}

// sources are safe to draw from at the same time.
type locked struct {
	turn chan struct{}
	rand.Source
}

func (l locked) Uint64() uint64 {
	l.turn <- struct{}{}

	defer func() { <-l.turn }()

	return l.Source.Uint64()
}

// registerChaos registers controllers with an engine. Those of a replay have neither a source nor a clock.
func registerChaos(seed uint64, live bool) func(controller.Engine) error {
	return func(engine controller.Engine) error {
		of := func(n int) chaos {
			c := chaos{owner: fmt.Sprint("Controller ", n)}

			if live {
				c.source = locked{make(chan struct{}, 1), rand.NewPCG(seed, uint64(n))}
				c.clock = clockwork.NewRealClock()
			}

			return c
		}

		return errors.Join(
			engine.RegisterController(&chaotic{of(1)}), engine.RegisterController(&chaotic{of(2)}),
			engine.RegisterQController(&chaoticQueue{of(3)}), engine.RegisterQController(&chaoticQueue{of(4)}),
		)
	}
}

// recordChaos records controllers that do at random what controllers do, while others write.
func recordChaos(t *testing.T, seed uint64) (string, recording.Summary) {
	t.Helper()

	s := record(t, registerChaos(seed, true))
	draw := rand.New(rand.NewPCG(seed, 0))
	ctx := t.Context()

	for i := range 40 {
		id := string(rune('a' + draw.IntN(4)))

		switch draw.IntN(4) {
		case 0:
			_ = s.state.Destroy(ctx, number(id, 0).Metadata()) // it may be held, or not be there
		case 1:
			_, _ = s.state.Teardown(ctx, number(id, 0).Metadata())
		default:
			_ = s.state.Modify(ctx, number(id, 0), func(res resource.Resource) error {
				res.(*conformance.IntResource).SetValue(i)

				if i%2 == 1 {
					res.Metadata().Labels().Set("odd", "")
				}

				return nil
			})
		}
	}

	return s.end()
}

func TestRandomControllersAreReplayed(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(check *rapid.T) {
		seed := rapid.Uint64().Draw(check, "seed")
		kept, summary := recordChaos(t, seed)

		for range 2 {
			result, err := replay(t, kept, registerChaos(seed, false))
			require.NoError(t, err)
			require.Equal(t, summary, result.Summary)
		}
	})
}

// A recording that was cut, wherever it was, is replayed up to there.
func TestCutRecordingsAreReplayed(t *testing.T) {
	t.Parallel()

	kept, summary := recordChaos(t, 1)
	lines := strings.SplitAfter(kept, "\n")
	draw := rand.New(rand.NewPCG(1, 1))

	for range 100 {
		at := 1 + draw.IntN(len(lines)-2)
		cut := strings.Join(lines[:at], "") + lines[at][:draw.IntN(len(lines[at]))]

		result, err := replay(t, cut, registerChaos(1, false))
		require.NoError(t, err, "cut in line %d", at+1)
		require.LessOrEqual(t, result.Summary.Passes, summary.Passes)
	}
}
