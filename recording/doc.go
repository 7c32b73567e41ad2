// Package recording writes down what the controllers of a live engine do, and has them do it again in a test.
//
// A [Recorder] stands between an engine and its controllers, and between the state and all who write to it. It notes
// each pass of a controller with all that the pass asked for and was answered, and each change of the state:
//
//	rec := recording.New(file)
//	st := rec.State(inner)                  // the engine and the host write to this one
//	engine, err := runtime.NewRuntime(st, logger)
//	err = register(rec.Engine(engine))      // the controllers are registered through this one
//	...
//	summary, err := rec.Close()             // after the engine has ended
//
// [Replay] makes fresh controllers and has them make the same passes, one after the other in the order in which they
// began. Nothing is read, written or waited for then: whatever a pass asks for is answered from the recording. A pass
// that asks for something else than it did, or leaves something out, ends the replay with a [DifferenceError].
//
// # Passes
//
// A pass of a queue controller is one call of Reconcile or MapInput. A pass of a classic controller begins with its Run
// or when it takes a wakeup, and ends when it takes the next one or Run returns. Within a pass the order of different
// requests does not matter, as it may be that of a map; equal ones are answered in their order.
//
// # The world outside
//
// What a controller learns from elsewhere than its runtime has to go through [Ask], [Clock] or [Rand], or it is not in
// the recording. Without a recorder these cost one look into the context. What a pass learns from memory that it shares
// with others is not in the recording either. Goroutines that a controller starts may wake it, and do nothing else;
// those of a run hook may write as well: a replay runs no hooks, and takes their writes as made from outside.
//
// # Format
//
// A recording is JSON, one object a line, each with one member that says what it is:
//
//	recording   the first line: the version of the format
//	controller  a controller was registered
//	resource    contents of a resource, under a number by which other lines refer to it
//	begin       a pass began, and why
//	call        a request of a pass was answered: what it asked, what it wrote, what it was told
//	event       something a pass noticed without asking: its context has ended, a timer has fired
//	change      the state was changed, by a call or from outside
//	finish      a pass of a queue controller, or a Run, returned
//	end         the last line: the number of passes, and hashes of their sequence and of the final state
//
// Lines are written as they happen and not held back, so that whatever ends the process leaves what was recorded until
// then. A last line that was cut is no error: the recording ends before it.
//
// # Goroutines
//
// A recorded Run has one goroutine more, which hands on wakeups; a replay has one for each Run and one for the pass of a
// queue controller. Whoever starts one waits for it.
package recording
