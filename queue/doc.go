// Package queue owns what is waiting to be worked on: which keys, in which order, from when on, and how often each has
// failed. Two front ends stand on one mechanism, both safe for concurrent use:
//
//   - [Queue] is for loops that are written around a blocking Get: add items, now or later, and work them off with any
//     number of workers. An item is its own identity, nothing travels with it.
//   - [Keyed] is for engines: each key carries one value, taking does not block, a function tells that there is work,
//     and changes go ahead of the initial fill.
//
// # What both promise
//
//  1. One entry per key. Putting a key that already waits changes nothing about its turn; it is handed out once.
//  2. Never in two hands. A key that was handed out is not handed out again before Done, or another way to end its
//     processing, was called for it, whatever the number of workers.
//  3. Nothing is lost. A key that is put while it is out is remembered, and ready again at Done: exactly once, however
//     often it was put, and not before.
//  4. First come, first served among equals. Keys are handed out in the order in which they became ready; delayed ones
//     become ready in the order of their due times, and in the order in which they were delayed where those are equal.
//     No order depends on the iteration of a map or on chance.
//  5. Delays are kept on the clock given at construction and nowhere else. When AddAfter, DoneAfter or Retry returns, the timer is
//     registered on that clock, so that advancing a fake clock past the delay makes the key ready. All delays of a
//     queue share one live timer, set for no later than the earliest.
//  6. Cost does not grow with the backlog: putting, taking and finishing take constant time, delaying and cancelling a
//     delay take logarithmic time, and in the steady state none of them allocates. Nothing is copied as a whole when a
//     backlog grows. Memory follows it down again: when it has drained, tables and heaps are replaced by small ones.
//
// # What they do not promise
//
// They keep no history and survive no restart. Equal keys must be equal to Go: a key that is not equal to itself, such
// as a floating-point NaN, is never found again. Time spent waiting is counted on the monotonic clock, where there is
// one.
//
// # Who may call what
//
// Any goroutine may call any method at any time, also after the end; methods that make no sense then do nothing. Done,
// and what else ends the processing of a key, are for whoever took the key; called for a key that is not out, they do
// nothing. Functions that are handed in must not call back where their comment forbids it.
//
// # How they end
//
// [Queue.ShutDown] refuses new items and drops the delayed ones, and Get goes on handing out what is ready, until that
// is used up. [Keyed.Stop] drops the whole backlog at once. Both stop the timer, and wait for its function if that is
// running, so that nothing of the queue runs once they have returned.
//
// The package starts no goroutine. The one function it leaves with the clock runs on a goroutine of the clock.
package queue
