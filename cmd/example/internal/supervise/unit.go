package supervise

import (
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

// healthyRun is how long a process has to run for its earlier failures to be forgotten. It is longer than most
// processes that never get well take to be found out.
const healthyRun = time.Minute

// wish is what a unit has been asked for last.
type wish struct {
	definition Definition
	// replace is the instance that shall not go on, and why; 0 for none.
	replace uint64
	why     string
	// remove tells that the unit shall go.
	remove bool
}

// unit is one name of a supervisor. Its goroutine runs one process after the other.
type unit struct {
	name string
	s    *Supervisor
	log  *zap.Logger
	// wake has room for one; it says that the wish may have changed.
	wake chan struct{}

	// mu guards what follows.
	mu     sync.Mutex
	wish   wish
	status Status
}

func newUnit(s *Supervisor, name string, def Definition) *unit {
	return &unit{
		name:   name,
		s:      s,
		log:    s.cfg.Logger.With(zap.String("service", name)),
		wake:   make(chan struct{}, 1),
		wish:   wish{definition: def},
		status: Status{State: Held, Revision: def.Revision},
	}
}

// update changes the wish. It does not wait for the unit.
func (u *unit) update(change func(*wish)) {
	u.mu.Lock()
	change(&u.wish)
	u.mu.Unlock()

	select {
	case u.wake <- struct{}{}:
	default: // it is going to look anyway
	}
}

func (u *unit) wanted() wish {
	u.mu.Lock()
	defer u.mu.Unlock()

	return u.wish
}

func (u *unit) current() Status {
	u.mu.Lock()
	defer u.mu.Unlock()

	return u.status
}

func (u *unit) report(change func(*Status)) {
	u.mu.Lock()

	before := u.status
	change(&u.status)
	changed := u.status != before

	u.mu.Unlock()

	if changed {
		u.s.cfg.Notify()
	}
}

// run is the goroutine of the unit. Each turn of the loop is one process, or the wait for a reason to start one.
func (u *unit) run() {
	failures := 0

	for {
		w := u.wanted()

		switch {
		case w.remove:
			if u.s.gone(u) {
				u.s.cfg.Notify()

				return
			}
		case w.definition.Hold:
			u.report(func(st *Status) { st.State, st.Revision = Held, w.definition.Revision })
			<-u.wake
		default:
			end := u.runOnce(w.definition)

			switch {
			case end.asked:
				failures = 0
			case end.ok && w.definition.OneShot:
				failures = 0

				u.rest(w.definition, Done, end, nil)
			default:
				if end.ran >= healthyRun {
					failures = 0
				}

				failures++

				if u.pause(w.definition, end, failures) {
					failures = 0
				}
			}
		}
	}
}

// ending is how a process came to its end.
type ending struct {
	// message says it in words.
	message string
	// ran is how long the process ran.
	ran time.Duration
	// asked tells that it was stopped because the wish had changed.
	asked bool
	// ok tells that it exited with code 0.
	ok bool
}

// runOnce starts a process and returns when nothing of it is left.
func (u *unit) runOnce(def Definition) ending {
	instance := u.s.number()

	child, err := u.s.start(u.name, def)
	if err != nil {
		message := fmt.Sprintf("cannot be started: %s", err)
		u.log.Warn("the service cannot be started", zap.Error(err))
		u.report(func(st *Status) {
			st.Revision, st.Instance, st.Message = def.Revision, instance, message
		})

		return ending{message: message}
	}

	began := u.s.cfg.Clock.Now()

	u.log.Info("service started", zap.Int("pid", child.pid))
	u.report(func(st *Status) {
		if st.Instance != 0 {
			st.Restarts++
		}

		st.State, st.Revision, st.Instance, st.PID = Running, def.Revision, instance, child.pid
		st.Started = began.UTC().Round(0)
	})

	asked, why := u.attend(child, def, instance)

	if asked || why != "" {
		u.report(func(st *Status) { st.State = Stopping })
	}

	// What the leader of the group may have left behind goes the same way.
	u.s.end(child, u.wanted().definition.Stop)

	message, ok := child.reap()
	if why != "" {
		message, ok = why, false
	}

	u.s.forget(u.name)

	level := zap.InfoLevel
	if !ok && !asked {
		level = zap.WarnLevel
	}

	u.log.Log(level, "service ended", zap.Int("pid", child.pid), zap.String("how", message), zap.Bool("asked", asked))

	if asked {
		u.report(func(st *Status) { st.PID, st.Settled = 0, false })
	}

	return ending{message: message, ran: u.s.cfg.Clock.Since(began), asked: asked, ok: ok}
}

// attend returns when the process has ended, or has to be stopped: because the wish has changed, which is true, or for a
// reason to start another one.
func (u *unit) attend(child *child, def Definition, instance uint64) (asked bool, why string) {
	settle := u.s.cfg.Clock.NewTimer(SettleTime)
	defer settle.Stop()

	for {
		select {
		case <-child.exited:
			return false, ""
		case <-settle.Chan():
			u.report(func(st *Status) { st.Settled = true })

			continue
		case <-u.wake:
		}

		switch w := u.wanted(); {
		case w.remove || !w.definition.sameProcess(def):
			return true, ""
		case w.replace == instance:
			return false, w.why
		default:
			// The process will do for the new definition, too.
			u.report(func(st *Status) { st.Revision = w.definition.Revision })
		}
	}
}

// pause waits for the time of the next attempt. It returns true if the wish changed in between.
func (u *unit) pause(def Definition, end ending, failures int) bool {
	delay := def.Restart.Delay(failures, nil)

	u.log.Debug("service is started again later", zap.Duration("in", delay), zap.Int("failures", failures))

	timer := u.s.cfg.Clock.NewTimer(delay)
	defer timer.Stop()

	return u.rest(def, Waiting, end, timer.Chan())
}

// rest stays without a process until there is something else to do, which is true, or the time has come.
func (u *unit) rest(def Definition, state State, end ending, due <-chan time.Time) bool {
	// State and process ID change in one step: nobody sees a unit that runs without a process.
	u.report(func(st *Status) { st.State, st.PID, st.Settled, st.Message = state, 0, false, end.message })

	for {
		select {
		case <-due:
			return false
		case <-u.wake:
		}

		w := u.wanted()

		if w.remove || !w.definition.sameProcess(def) {
			return true
		}

		u.report(func(st *Status) { st.Revision = w.definition.Revision })
	}
}
