// Package reconcile owns two things that do not need the engine: what the outcome of a pass means, and a loop that drives
// reconcilers from hints and a periodic resync.
//
// # Outcomes
//
// A pass returns an error value. [Classify] says what follows from it, for every error there is:
//
//	nil                                  Succeeded   nothing, until something changes
//	RequeueAfter(d)                      Succeeded   another pass after d
//	Wait("DatabaseStarting", After(d))   Pending     another pass after d; this is no failure
//	an error with a class but ClassTransient,
//	    such as Terminal(err)            Halted      nothing, until something changes or a resync comes
//	any error, when the run has ended    Stopped     nothing at all
//	any other error                      Failed      another pass after a backoff that grows
//
// # The loop
//
// A [Controller] takes keys from a [queue.Queue] and gives them to a [Reconciler], with as many workers as is wanted, one key
// never to two of them at once. Each pass decides anew when the next one comes: however many hints and resyncs there are while a
// key waits, one more pass is to come. A [Manager] has one controller for each kind of resource. It is told what may have changed
// by [Manager.Enqueue], and lists all resources of its kinds now and then, so that a hint that was lost is made up for
// within an interval. It holds no watch: it decides when to reconcile, and never what the state is. What is queued
// is lost when the process ends, and nothing is missed by it: the next one begins with a list.
//
// The engine of package runtime does the same from watches, without intervals. This loop is for programs that have a state
// and no use for watches: one-shot commands, tests, states that can not be watched.
//
// # Goroutines
//
// [Controller.Run] has one for each worker, [Manager.Start] those of its controllers and one for the resync of each kind. Both
// return when all of them have ended.
package reconcile
