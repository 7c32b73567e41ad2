// Package cache owns the read-through cache: for each cached kind, all its resources in order of id, fed by one
// writer and read by any number of readers.
//
// The writer is the goroutine that watches the kind. It changes a working tree and publishes it as an immutable
// [View]; readers take the newest view and wait for nobody, once the first contents are complete. What a reader gets
// is a deep copy, sorted by id, and never older than what it got before, within one incarnation of a resource.
//
// While no engine runs, a collection serves nothing and says so: its user then reads the state itself. The package
// starts no goroutine.
package cache
