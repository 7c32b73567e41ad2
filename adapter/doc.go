// Package adapter owns what both forms of controller share: crews of goroutines, deadlines and pauses of passes, and what is
// known about a controller while it runs.
//
// A callback may return an error, panic, or end its goroutine with runtime.Goexit; each is contained, counted, logged
// once, and retried. The packages below hold one adapter for each form: rruntime for classic controllers, qruntime for
// queue controllers.
package adapter
