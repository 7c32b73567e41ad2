package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrResumed is returned to who waits for the passes of a paused controller to end when it is resumed before they have.
var ErrResumed = errors.New("the controller was resumed before its passes had ended")

// Pause is a time in which a controller is given no work.
type Pause struct {
	// Since is when it began.
	Since time.Time

	quiet, over chan struct{}
	isQuiet     bool
}

// NewPause begins a pause.
func NewPause(now time.Time) *Pause {
	return &Pause{Since: now, quiet: make(chan struct{}), over: make(chan struct{})}
}

// Quiet says that no pass runs any more. It may be called several times, under the lock of whoever counts the passes.
func (p *Pause) Quiet() {
	if !p.isQuiet {
		p.isQuiet = true

		close(p.quiet)
	}
}

// End ends the pause. It is called once.
func (p *Pause) End() { close(p.over) }

// Over is closed when the pause has ended.
func (p *Pause) Over() <-chan struct{} { return p.over }

// Wait returns when no pass runs any more. It returns [ErrResumed] when the pause ends before, and an error that wraps that
// of the context when that does.
func (p *Pause) Wait(ctx context.Context) error {
	select {
	case <-p.quiet:
		return nil
	default:
	}

	select {
	case <-p.quiet:
		return nil
	case <-p.over:
		return ErrResumed
	case <-ctx.Done():
		return fmt.Errorf("it is paused, but still in a pass: %w", context.Cause(ctx))
	}
}
