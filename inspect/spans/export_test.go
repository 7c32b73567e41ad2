package spans

import "go.opentelemetry.io/otel/trace"

// Following is an engine that is followed step by step.
type Following struct{ f *following }

// Start begins to follow an engine.
func Start(engine Engine, provider trace.TracerProvider, cfg Config) Following {
	return Following{newFollowing(engine, provider, cfg.withDefaults())}
}

// Look looks once.
func (f Following) Look() { f.f.look() }

// Remembered is how much is remembered.
func (f Following) Remembered() (open, ended, resources, items int) {
	return len(f.f.open), len(f.f.ended), f.f.writes.len(), f.f.last.len()
}
