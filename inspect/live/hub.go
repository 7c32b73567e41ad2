package live

import (
	"errors"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/follow"
)

// Errors of those who want to watch.
var (
	// ErrClosed is that the hub is closed.
	ErrClosed = errors.New("the host does not show the engine any more")
	// ErrCrowded is that as many watch as may.
	ErrCrowded = errors.New("too many watch the engine already")
)

// DefaultStreams is how many may watch at once.
const DefaultStreams = 64

// Engine is what is asked of an engine; [runtime.Runtime] is one.
type Engine interface {
	answer.Engine
	follow.Engine
}

// Config is what a hub is made of.
type Config struct {
	// Engine is what is watched, and Answers puts it into words.
	Engine  Engine
	Answers *answer.Answers
	// Clock says when to look. The default is the real clock.
	Clock clockwork.Clock
	// Interval is how often the engine is looked at. The default is a second.
	Interval time.Duration
	// Streams is how many may watch at once. The default is [DefaultStreams].
	Streams int
	// Logger gets what can not be told those who watch. The default is a silent one.
	Logger *zap.Logger
}

// Hub looks at one engine for all who watch. Make one with [New].
type Hub struct {
	cfg     Config
	closing chan struct{}
	left    chan struct{}
	looker  sync.WaitGroup

	// mu guards the fields below.
	mu      sync.Mutex
	closed  bool
	looking bool
	watches map[*Watch]struct{}
	follows map[*Follow]struct{}
	// now is what was seen last, nil before the first look.
	now *snapshot
}

// New returns a hub. Close it when it is not needed any more.
func New(cfg Config) *Hub {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Interval <= 0 {
		cfg.Interval = time.Second
	}

	if cfg.Streams <= 0 {
		cfg.Streams = DefaultStreams
	}

	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}

	return &Hub{
		cfg: cfg, closing: make(chan struct{}), left: make(chan struct{}, 1),
		watches: map[*Watch]struct{}{}, follows: map[*Follow]struct{}{},
	}
}

// Close ends all streams, and waits until the engine is not looked at any more.
func (h *Hub) Close() {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	h.mu.Unlock()

	if !closed {
		close(h.closing)
	}

	h.looker.Wait()
}

// enter lets somebody in. Who is the first has the engine looked at.
func (h *Hub) enter(add func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()

	switch {
	case h.closed:
		return ErrClosed
	case len(h.watches)+len(h.follows) >= h.cfg.Streams:
		return ErrCrowded
	}

	add()

	if !h.looking {
		h.looking = true

		h.looker.Go(h.look) // Close waits for it
	}

	return nil
}

// leave lets somebody go.
func (h *Hub) leave(remove func()) {
	h.mu.Lock()
	remove()
	h.mu.Unlock()

	select {
	case h.left <- struct{}{}:
	default: // the looker is about to hear of it
	}
}

// rest ends looking if nobody is left.
func (h *Hub) rest() bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	if !h.closed && len(h.watches)+len(h.follows) > 0 {
		return false
	}

	h.looking, h.now = false, nil

	return true
}

// look looks at the engine until nobody is left.
func (h *Hub) look() {
	ticker := h.cfg.Clock.NewTicker(h.cfg.Interval)
	defer ticker.Stop()

	l := newLooker(h.cfg)

	for {
		h.publish(l)

		for looked := true; looked; {
			select {
			case <-ticker.Chan():
				looked = false
			case <-h.left:
			case <-h.closing:
			}

			if h.rest() {
				return
			}
		}
	}
}

// publish looks at the engine and lets all know. What nobody has asked for is not put into words.
func (h *Hub) publish(l *looker) {
	h.mu.Lock()
	watched, followed := len(h.watches) > 0, len(h.follows) > 0
	h.mu.Unlock()

	var (
		seen   *snapshot
		passes *lot
	)

	err := contain.Call(func() error {
		seen, passes = l.look(watched, followed)

		return nil
	})
	if err != nil {
		h.cfg.Logger.Error("the engine can not be looked at", contain.Fields(err)...)

		return // what is seen next time is told then
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	h.now = seen

	for w := range h.watches {
		w.wake()
	}

	if passes != nil {
		for f := range h.follows {
			f.put(passes)
		}
	}
}

// latest is what was seen last.
func (h *Hub) latest() *snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()

	return h.now
}
