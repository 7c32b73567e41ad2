package operator

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// eventRoom is how many events of one pass are kept.
	eventRoom = 100
	// suppression is how long an event is not recorded again.
	suppression = time.Minute
	// eventsAtOnce and eventsEach bound what a controller records: that many at once, and one more each time.
	eventsAtOnce = 20
	eventsEach   = 250 * time.Millisecond
)

// event notes an event in the pass, if there is room.
func (run *pass) event(severity Severity, reason, message string) {
	switch {
	case run.def.events.off:
	case len(run.events) == eventRoom:
		run.dropped++
	default:
		run.events = append(run.events, Event{
			Severity: severity, Subject: run.primary.Metadata(), SubjectUID: run.incarnation,
			Controller: run.def.name, Action: run.action, Reason: reason, Message: message, Time: run.now(),
		})
	}
}

// sameEvent is what makes two events the same: another message does not make another one.
type sameEvent struct {
	uid, id, reason, action string
	severity                Severity
}

// filter leaves out events that were recorded a moment ago, and those that are too many. It forgets with its process, so that
// a restart may record something twice.
type filter struct {
	// mu guards what follows.
	mu      sync.Mutex
	last    map[sameEvent]time.Time
	cleaned time.Time
	limit   *rate.Limiter
}

func newFilter() *filter {
	return &filter{last: map[sameEvent]time.Time{}, limit: rate.NewLimiter(rate.Every(eventsEach), eventsAtOnce)}
}

// passes tells whether an event is to be recorded.
func (f *filter) passes(e Event) bool {
	same := sameEvent{e.SubjectUID, e.Subject.ID(), e.Reason, e.Action, e.Severity}

	f.mu.Lock()
	defer f.mu.Unlock()

	if e.Time.Sub(f.cleaned) >= suppression {
		maps.DeleteFunc(f.last, func(_ sameEvent, last time.Time) bool { return e.Time.Sub(last) >= suppression })

		f.cleaned = e.Time
	}

	if last, again := f.last[same]; again && e.Time.Sub(last) < suppression || !f.limit.AllowN(e.Time, 1) {
		return false
	}

	f.last[same] = e.Time

	return true
}
