// Package prom owns the metrics of an engine for Prometheus: a [Collector], which asks the engine when it is scraped, and keeps
// nothing in between but which controllers have labels of their own, and what those have done that have gone. It starts no
// goroutine, and registers nothing anywhere by itself.
//
// # Labels
//
// Labels are names of controllers, namespaces and types, states and outcomes; ids of resources never are. The first controllers, up
// to a number, have their own; all others are summed up under [Others], and stay there. So it is with kinds. A name that is too
// long, or is not valid UTF-8, is cut and told apart by a hash.
package prom
