// Package options re-exports the options of the contract's engine, so that they, and helpers of the contract that
// return them, work with this engine unchanged. It owns nothing.
package options

import (
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/resource"
	"golang.org/x/time/rate"
)

// Options is the contract's set of options.
type Options = options.Options

// Option is the contract's functional option.
type Option = options.Option

// CachedResource names a cached kind.
type CachedResource = options.CachedResource

// WithChangeRateLimit limits the writes of each controller to limit a second with bursts of burst. The default is no
// limit. The limit must be above 0 and the burst at least 1.
func WithChangeRateLimit(limit rate.Limit, burst int) Option {
	return options.WithChangeRateLimit(limit, burst)
}

// WithMetrics switches metrics on, which is the default, or off.
func WithMetrics(enabled bool) Option { return options.WithMetrics(enabled) }

// WithCachedResource has the kind read through the cache.
func WithCachedResource(namespace resource.Namespace, typ resource.Type) Option {
	return options.WithCachedResource(namespace, typ)
}

// WithWarnOnUncachedReads logs a warning when a controller reads a kind that is not cached without having asked for an
// uncached read: once for each controller and kind. The default is off.
func WithWarnOnUncachedReads(warn bool) Option { return options.WithWarnOnUncachedReads(warn) }

// DefaultOptions returns the defaults: no rate limit, metrics on.
func DefaultOptions() Options { return options.DefaultOptions() }
