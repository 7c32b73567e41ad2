package runtime

// Counts returns what the engine counts of itself, by the names that it has in the expvar map of the engine: counts, which stay
// when the engine ends, and what there is now, which goes. It is empty where metrics are off.
func (r *Runtime) Counts() map[string]int64 { return r.metrics.Counts() }
