package runtime

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/time/rate"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// WatchPolicy is what happens when a watch fails.
type WatchPolicy int

// Watch policies.
const (
	// ResumeWatch resumes the watch from where it was, or lists the kind anew and delivers the difference, for ever,
	// with a backoff of its own for each kind. It is the default.
	ResumeWatch WatchPolicy = iota
	// EndRun ends Run with the error, as the engine that ships with the contract does.
	EndRun
)

// Config holds the settings of an engine. The zero value means the defaults.
type Config struct {
	// Options are the contract's options. The default is none: no cache, no rate limit, metrics on.
	Options []options.Option

	// Clock is the only clock of the engine. The default is the real one.
	Clock clockwork.Clock
	// Seed feeds the jitter of all backoffs. Any value is fine; engines of one process that should not retry in step
	// have different ones. The default is 0.
	Seed uint64

	// OnWatchFailure is what happens when a watch fails. The default is ResumeWatch.
	OnWatchFailure WatchPolicy
	// AuditInterval is how often each watch is looked at although nothing seems wrong with it. What is known of its kind is
	// compared with a list, and loaded anew if the watch has missed anything; a watch of which it can not be told is closed
	// and resumed, which finds one that has gone silent. The default, 0, is never.
	AuditInterval time.Duration

	// OnMutation, if it is set, has the engine find out who changes a resource that was only lent, and is told; see
	// cache.Config for when and where it is called, and what it costs. It is for tests. The default is not to look.
	OnMutation func(*cache.MutationError)

	// NoDamping has every change wake whom it concerns at once, whoever has made it. By default, an item whose passes keep
	// writing what wakes them waits for its backoff, and controllers that keep undoing what each other writes are told of
	// that at intervals. It is for hosts whose controllers get on by long rows of such passes, and must not be slowed down.
	NoDamping bool

	// Backoff is for restarts of controllers and failing items. The default is backoff.EngineRestart.
	Backoff backoff.Policy
	// WatchBackoff is for reopening watches. The default is backoff.Watch.
	WatchBackoff backoff.Policy

	// PassDeadline is how long a pass of a controller may run. The context of one that is over it ends, with an
	// adapter.DeadlineError as its cause, and unless it returns nil nevertheless it has failed with such an error, is counted,
	// and retried with backoff. Of a classic controller the Run ends with the pass, and is called again. The default, 0, is
	// as long as it takes.
	//
	// A pass of a classic controller begins with its first call to its runtime after it has taken a wakeup. It ends with
	// ResetRestartBackoff, with CleanupOutputs, when it asks for EventCh again or takes the next wakeup, and when Run returns.
	PassDeadline time.Duration
	// PassDeadlines are the deadlines of single controllers by name, in place of PassDeadline; 0 is none.
	PassDeadlines map[string]time.Duration

	// NoFindings keeps the log free of what is found in the declarations: controllers that feed each other, inputs that nobody
	// writes, and outputs that nobody reads. By default they are looked at when Run begins, and after they have changed; see
	// package analysis for what is found.
	NoFindings bool

	// Passes is how many passes of each controller are remembered, with what has caused them and what they have read and
	// written: see Runtime.Passes. The default, 0, is cause.DefaultPasses; below 0 is none.
	Passes int

	// Grace is how long Run waits for controllers to end after its context has. When it runs out, Run returns a
	// StragglersError. The default, 0, is to wait for as long as it takes.
	Grace time.Duration
	// StuckAfter is how long a pass may run, or a wakeup or an item may wait, before Health calls the controller stuck, and the
	// log does, with where it stands. All controllers are looked at twice in that time. The default is 30 s.
	StuckAfter time.Duration
}

// withDefaults returns the config with its defaults filled in, and the contract's options, or a [ConfigError].
func (c Config) withDefaults() (Config, options.Options, error) {
	opts := options.DefaultOptions()

	for i, opt := range c.Options {
		if opt == nil {
			return c, opts, &ConfigError{Field: fmt.Sprintf("Options[%d]", i), Problem: "is nil"}
		}

		opt(&opts)
	}

	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}

	if c.Backoff == (backoff.Policy{}) {
		c.Backoff = backoff.EngineRestart()
	}

	if c.WatchBackoff == (backoff.Policy{}) {
		c.WatchBackoff = backoff.Watch()
	}

	if c.StuckAfter == 0 {
		c.StuckAfter = 30 * time.Second
	}

	if c.Passes == 0 {
		c.Passes = cause.DefaultPasses
	}

	c.PassDeadlines = maps.Clone(c.PassDeadlines)

	return c, opts, c.validate(opts)
}

// deadline returns how long a pass of a controller may run; 0 is as long as it takes.
func (c *Config) deadline(name string) time.Duration {
	if d, ok := c.PassDeadlines[name]; ok {
		return d
	}

	return c.PassDeadline
}

func (c *Config) validateDeadlines() error {
	for _, name := range slices.Sorted(maps.Keys(c.PassDeadlines)) {
		field := fmt.Sprintf("PassDeadlines[%q]", name)

		if name == "" {
			return &ConfigError{Field: field, Problem: "names no controller"}
		}

		if d := c.PassDeadlines[name]; d < 0 {
			return &ConfigError{Field: field, Problem: fmt.Sprintf("is %s, it must not be negative", d)}
		}
	}

	return nil
}

func (c Config) validate(opts options.Options) error {
	if err := c.Backoff.Validate(); err != nil {
		return &ConfigError{Field: "Backoff", Problem: err.Error()}
	}

	if err := c.WatchBackoff.Validate(); err != nil {
		return &ConfigError{Field: "WatchBackoff", Problem: err.Error()}
	}

	if c.OnWatchFailure != ResumeWatch && c.OnWatchFailure != EndRun {
		return &ConfigError{Field: "OnWatchFailure", Problem: fmt.Sprintf("is %d, use ResumeWatch or EndRun", c.OnWatchFailure)}
	}

	for _, field := range []struct {
		name  string
		value time.Duration
	}{{"AuditInterval", c.AuditInterval}, {"PassDeadline", c.PassDeadline}, {"Grace", c.Grace}, {"StuckAfter", c.StuckAfter}} {
		if field.value < 0 {
			return &ConfigError{Field: field.name, Problem: fmt.Sprintf("is %s, it must not be negative", field.value)}
		}
	}

	if err := c.validateDeadlines(); err != nil {
		return err
	}

	if opts.ChangeRateLimit != rate.Inf && (!(opts.ChangeRateLimit > 0) || opts.ChangeBurst < 1) {
		return &ConfigError{
			Field:   "Options",
			Problem: fmt.Sprintf("set a change rate limit of %v with a burst of %d, under which nothing could be written: the limit must be above 0 and the burst at least 1", opts.ChangeRateLimit, opts.ChangeBurst),
		}
	}

	for _, cached := range opts.CachedResources {
		if cached.Type == "" {
			return &ConfigError{Field: "Options", Problem: fmt.Sprintf("cache a resource without a type in namespace %q", cached.Namespace)}
		}
	}

	return nil
}
