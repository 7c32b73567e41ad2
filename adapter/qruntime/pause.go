package qruntime

import "github.com/switchyard-run/switchyard/adapter"

// Pause has no more passes begin, and returns the pause, which is quiet when none runs any more. Items wait, and delays run
// on; so does the run hook. A controller that is paused already stays in the pause that it is in.
func (a *Adapter) Pause() *adapter.Pause {
	p := &a.pool

	p.mu.Lock()
	defer p.mu.Unlock()

	pause := p.pause.Load()
	if pause == nil {
		pause = adapter.NewPause(a.cfg.Clock.Now())
		p.pause.Store(pause)
	}

	p.quietLocked()

	return pause
}

// Resume ends the pause, if there is one, and has the work go on.
func (a *Adapter) Resume() {
	p := &a.pool

	p.mu.Lock()
	pause := p.pause.Swap(nil)

	if pause != nil {
		p.resumed = a.now()
	}
	p.mu.Unlock()

	if pause != nil {
		pause.End()
		a.hire()
	}
}

// Paused tells whether the controller is paused.
func (a *Adapter) Paused() bool { return a.pause.Load() != nil }

// quietLocked tells whoever has paused the controller that no worker is left.
func (p *pool) quietLocked() {
	if pause := p.pause.Load(); pause != nil && len(p.workers) == 0 {
		pause.Quiet()
	}
}
