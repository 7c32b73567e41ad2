// Command soak runs many controllers on a state that fails in every way it may, for as long as it is told to, and finds
// out whether an update was lost, and whether memory or goroutines grow.
//
// Controllers and resources come in groups, each in a namespace of its own, with five controllers: one that copies
// resources and holds them with finalizers, one that joins the copies with others by label, one that sums up the joins,
// one that counts by label and has its outputs tracked, and one whose inputs change. What they make follows from the
// sources alone, by a plain function. A writer for each group changes its sources all the time. One group after another
// is checked: its writer pauses, its faults end, and its outputs have to become what the function says. Where they do
// not, an update was lost. Now and then all groups pause together, for a measurement of a process that is at rest.
//
// The faults are those of a state that is far away and of controllers that are not well written: calls that fail before
// or after they have been made, conflicts, slow calls, watches that break, stall or are refused, bookmarks that are
// refused, passes that fail, panic or end their goroutine, and controllers that are unregistered and registered again.
// The history of the state is short, so watches are overrun as well.
//
// Everything is in one process, on real time. The program starts a goroutine for each writer, one for the engine, and one
// for each open watch, and waits for all of them before it ends.
package main
