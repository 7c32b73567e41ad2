package controllertest

import (
	"fmt"
	goruntime "runtime"
	"strings"
)

// Errorf notes a failure; the run goes on.
func (w *World) Errorf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.failures = append(w.failures, strings.TrimSpace(fmt.Sprintf(format, args...)))
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

// Logf notes a line in the trace.
func (w *World) Logf(format string, args ...any) { w.trace.note("script", format, args...) }

func (w *World) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	return len(w.failures) > 0
}
