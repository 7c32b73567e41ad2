// Package cause owns the answer to the question why a controller has run: for each of its last passes the changes that woke
// it, what it read, what it wrote, and what came of it.
//
// A [Tracer] remembers the last passes of one controller. The adapters tell it when a pass begins and ends, and the guarded
// view of the state what the pass does in between. Changes that woke a pass are carried along with what waits to be worked
// on, so that they survive being merged: a [Set] holds the causes of up to [Most] resources, and counts what else there was.
//
// Who has made a change is not written down with it. It is the pass that has written the version, and if there is none, it
// was made from outside: see [Writer].
//
// # What it costs
//
// Nothing is allocated for a pass once a controller has made as many as are remembered; memory is what the last passes came
// to, and before the first one there is none for them. A pass takes a lock when it begins and when it ends, which it shares with
// whoever looks at passes, and with more than eight workers with some of the others. The package starts no goroutine.
package cause
