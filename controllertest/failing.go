package controllertest

import (
	"fmt"
	"path/filepath"
	goruntime "runtime"
	"strings"
)

// Errorf notes a failure, with the line of the test that it comes from, where it comes from one; the run goes on.
func (w *World) Errorf(format string, args ...any) {
	failure := strings.TrimSpace(fmt.Sprintf(format, args...))

	if at := lineOfTest(); at != "" && !strings.Contains(failure, at) {
		failure = at + ": " + failure
	}

	w.mu.Lock()
	defer w.mu.Unlock()

	w.failures = append(w.failures, failure)
}

// lineOfTest returns the file and the line of the innermost call of this goroutine that stands in a file of tests; nothing if
// there is none.
func lineOfTest() string {
	callers := make([]uintptr, 64)
	frames := goruntime.CallersFrames(callers[:goruntime.Callers(2, callers)])

	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}

		if !more {
			return ""
		}
	}
}

// FailNow ends the goroutine that calls it, and the run.
func (w *World) FailNow() {
	w.mu.Lock()
	if len(w.failures) == 0 {
		w.failures = append(w.failures, "FailNow was called")
	}
	w.mu.Unlock()

	w.sched.nudge()
	goruntime.Goexit()
}

// Fatalf notes a failure and ends the run.
func (w *World) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	w.FailNow()
}

// Helper does nothing; it is there for assertions that call it.
func (w *World) Helper() {}

// Logf notes a line in the trace: for the pass that has its turn, if a controller or a fake calls it, and else for the script.
func (w *World) Logf(format string, args ...any) {
	w.trace.note(w.trace.author("", "script"), format, args...)
}

func (w *World) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.failures) > 0
}
