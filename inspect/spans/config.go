package spans

import (
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"
)

// Defaults of [Config].
const (
	DefaultInterval  = time.Second
	DefaultResources = 16384
	DefaultFlush     = 5 * time.Second
)

// Config is how an engine is followed. Its zero value means the defaults.
type Config struct {
	// Clock is what the engine tells time by. The default is the real clock.
	Clock clockwork.Clock
	// Interval is how often the engine is looked at. A controller that makes more passes in between than the engine remembers of it
	// has some that become no spans. The default is [DefaultInterval].
	Interval time.Duration
	// Resources is of how many resources the last writes are remembered, and of how many items the last passes: twice as many at most.
	// The default is [DefaultResources].
	Resources int
	// Flush is for how long the end waits until all spans are exported. The default is [DefaultFlush].
	Flush time.Duration
	// Logger gets a warning, once a minute at most, if passes were forgotten before they were looked at. The default is a silent one.
	Logger *zap.Logger
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}

	if c.Interval <= 0 {
		c.Interval = DefaultInterval
	}

	if c.Resources <= 0 {
		c.Resources = DefaultResources
	}

	if c.Flush <= 0 {
		c.Flush = DefaultFlush
	}

	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}

	return c
}
