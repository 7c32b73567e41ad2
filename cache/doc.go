// Package cache owns the read-through cache: for each cached kind, all its resources in order of id, fed by one
// writer and read by any number of readers.
//
// The writer is the goroutine that watches the kind. It changes a working tree and publishes it as an immutable
// [View]; readers take the newest view and wait for nobody, once the first contents are complete. What a reader is shown
// is sorted by id, and never older than what it was shown before, within one incarnation of a resource.
//
// A view is read in two ways. Get and List return deep copies, which are the reader's own. Lend, All, Prefix and Match
// copy nothing, and what they return must not be changed; [Config.Detect] names whoever does it nevertheless.
//
// Queries look at few resources where that can be told beforehand: those whose id begins as a regular expression asks
// for, or those that an index of a label has. An index is made when it is first of use, is published with the tree that
// it is of, and costs nothing for a change that leaves the label alone. Whatever way is taken, the answer is that of a
// scan.
//
// While no engine runs, a collection serves nothing and says so: its user then reads the state itself. The package
// starts no goroutine.
package cache
