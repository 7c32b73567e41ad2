package recording

import "fmt"

// FormatError says that something is no recording, or not one that this package can read.
type FormatError struct {
	// Line is the line that can not be read, counted from 1.
	Line int
	// Problem is what is wrong with it.
	Problem string
}

// Error names the line and the problem.
func (e *FormatError) Error() string {
	return fmt.Sprintf("line %d of the recording cannot be replayed: %s", e.Line, e.Problem)
}

// UnknownControllerError says that a recording has passes of a controller that was not registered for the replay.
type UnknownControllerError struct {
	// Controller is the controller of the recording.
	Controller string
	// Problem is what is there instead.
	Problem string
}

// Error names the controller.
func (e *UnknownControllerError) Error() string {
	return fmt.Sprintf("the recording has passes of controller %q: %s; register the controllers that were recorded", e.Controller, e.Problem)
}

// DifferenceError says that a pass did something else in the replay than it did when it was recorded.
type DifferenceError struct {
	// Number is that of the pass, counted from 1, and Pass is the pass.
	Number int
	Pass   Pass
	// Problem says what was different, in a few words.
	Problem string
	// Diff shows what the pass asked for and wrote, as recorded and as replayed, as a unified diff.
	Diff string
}

// Error names the pass and shows the difference.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("pass %d (%s) %s\n%s", e.Number, e.Pass, e.Problem, e.Diff)
}

// StuckError says that the context of a replay ended before the replay did.
type StuckError struct {
	// Number is that of the pass, counted from 1, and Pass is the pass.
	Number int
	Pass   Pass
	// Waits is what the replay waited for.
	Waits string
	// Cause is why the context ended.
	Cause error
}

// Error names the pass and what the replay waited for.
func (e *StuckError) Error() string {
	return fmt.Sprintf("the replay ended in pass %d (%s), where it waited for %s: %v", e.Number, e.Pass, e.Waits, e.Cause)
}

// Unwrap returns why the context ended.
func (e *StuckError) Unwrap() error { return e.Cause }
