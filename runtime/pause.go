package runtime

import "context"

// Pause stops giving work to a controller, and returns when no pass of it runs any more. When the context ends first, its
// error is returned, and the controller stays paused; call again to go on waiting. It returns an error that wraps
// adapter.ErrResumed when the controller is resumed meanwhile, and [ErrNotRegistered] for an unknown name.
//
// While a controller is paused, its work waits: items of a queue controller as usual, of a classic controller one wakeup.
// Delays run on. The run hook of a queue controller goes on, and so does a Run of a classic controller that does something
// without being woken; but a Run that has failed, or was not called yet, is not called before [Runtime.Resume]. A pass of a
// classic controller ends with ResetRestartBackoff, with CleanupOutputs, when it asks for its channel of wakeups again, and
// when Run returns: one that does nothing of all that is waited for until the context ends.
//
// It may be called before Run, where it has the controller start paused, and at any time after; a controller that is
// paused already stays so. A controller can not pause itself: called with a context that the controller was handed, Pause
// returns [ErrPausesItself]. With any other context it would wait for its own pass until that ends.
func (r *Runtime) Pause(ctx context.Context, name string) error {
	if ctx.Value(insideKey{r}) == name {
		return r.describe(name, ErrPausesItself)
	}

	e, err := r.find(name)
	if err != nil {
		return err
	}

	if err := e.unit().Pause().Wait(ctx); err != nil {
		return r.describe(name, err)
	}

	return nil
}

// Resume gives work to a paused controller again, beginning with what has waited. It does not wait. For a controller that
// is not paused it does nothing; for an unknown name it returns [ErrNotRegistered]. It may be called from everywhere.
func (r *Runtime) Resume(name string) error {
	e, err := r.find(name)
	if err != nil {
		return err
	}

	e.unit().Resume()

	return nil
}

// countPaused returns how many controllers are paused. It is called by whoever reads the metrics, while others may wait for
// that with a lock of the engine held.
func (r *Runtime) countPaused() int {
	count := 0

	for _, node := range r.db.Nodes() {
		if e := node.Target(); e.unit().Paused() {
			count++
		}
	}

	return count
}
