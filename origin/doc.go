// Package origin owns who has made a change: a controller that is woken by what it has written itself is told apart from
// one that is woken by others.
//
// An [Own] holds what one queue controller has written to its own inputs and has not been shown yet. The controller's
// view of the state notes writes in it, and the delivery asks it about each change. What can not be told for certain
// counts as somebody else's. The package starts no goroutine and has no clock.
package origin
