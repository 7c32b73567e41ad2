package operated

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/operator"
)

// mostStumbles is how many calls of a world may go wrong by chance, so that it comes to rest.
const mostStumbles = 60

// stumbler has handlers go wrong by chance.
type stumbler struct {
	world *controllertest.World
	off   atomic.Bool
	calls atomic.Int64
}

// chance decides for one of n, of which 0 lets all go well.
func (s *stumbler) chance(what string, n int) int {
	call := s.calls.Add(1)
	if s.off.Load() || call > mostStumbles {
		return 0
	}

	return s.world.Pick(fmt.Sprintf("whether %s goes well, in call %d", what, call), n)
}

// stumble goes wrong before anything is done.
func (s *stumbler) stumble(ctx context.Context, what string) error {
	switch s.chance(what, 24) {
	case 1:
		return errStumbled
	case 2:
		panic(errStumbled)
	case 3:
		<-ctx.Done()

		return ctx.Err()
	case 4:
		goruntime.Goexit()
	case 5:
		return operator.Wait("Stumbled", operator.After(5*time.Second))
	case 6:
		return fmt.Errorf("a call within: %w", context.Canceled)
	case 7:
		return fmt.Errorf("a call within: %w", context.DeadlineExceeded)
	}

	return nil
}

// stumbleLate goes wrong when all is done.
func (s *stumbler) stumbleLate(what string) error {
	switch s.chance("the end of "+what, 24) {
	case 1:
		return errStumbled
	case 2:
		panic(errStumbled)
	case 3:
		time.Sleep(11 * time.Second) // longer than a pass may take
	case 4:
		return operator.RequeueAfter(7 * time.Second)
	case 5:
		return operator.Wait("StumbledLate", operator.After(5*time.Second))
	}

	return nil
}

func (s *stumbler) stumbleMapping() {
	if s.chance("a mapping", 10) == 1 {
		panic(errStumbled)
	}
}
