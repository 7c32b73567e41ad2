// Package dependency owns who depends on what: the inputs and outputs that controllers have declared, the conflicts
// among them, and the reverse look-ups that tell whom a change concerns.
//
// A [Database] is written by registration, unregistration and input updates, each all or nothing. It is read in two
// ways that do not wait for those: a [Router] walks the dependents of a changed resource without a lock and without
// allocating, and a [Node] answers in constant time what its controller may do.
//
// The package starts no goroutine. Renderings of the graph and its analysis live in packages below this one, so that
// an engine links no renderings.
package dependency
