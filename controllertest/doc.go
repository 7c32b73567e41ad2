// Package controllertest proves controllers: it runs them on the real engine and a real state, in a world of its own in
// which one thing happens at a time, and in which anything may fail.
//
// A test is a [Script]: a function that starts controllers, writes from outside, waits until nothing is pending any more,
// and looks at what has come of it.
//
//	func service(w *controllertest.World) {
//		w.Start(func(e controller.Engine) error { return e.RegisterQController(&ServiceController{}) })
//		w.Create(NewService("web"))
//		w.Settle()
//	}
//
// [Run] runs it once. [CrashSweep] runs it once for each write that the controllers make, and ends the process after that
// write. [AssertIdempotent] wakes everything when all is done, and nothing may be written. [Confluent] runs it in many
// orders, all of which have to end in the same state. [Explore] runs it under faults: conflicts, errors, answers that are
// lost, watches that break, crashes.
//
// # Schedules
//
// A world lives in a bubble of testing/synctest, so its time is its own and costs nothing. Whatever can happen next waits
// at a gate: a pass of a controller, the delivery of events that a watch has to tell, a write of the script, the next line
// of a slow call. When nothing moves any more, one gate is opened, and the world waits until nothing moves again. Which
// gate that is, and what fails, are decisions; a seed makes all of them, so a seed is a schedule: it names a run, which can
// be repeated. A failing one is made short by taking its decisions back, one after the other, as long as it fails.
//
// What the schedule does not govern: goroutines that a controller starts by itself, and the order in which timers fire that
// are due at the same moment. A controller that lets them race with each other is not repeated bit for bit.
//
// # Goroutines
//
// All of them end before the function of this package that started them returns; the bubble sees to that.
package controllertest
