package main

import (
	"context"
	"time"
)

// Nothing goes on any more when the process has used little of the processor for a while: looking at the heap takes some.
const (
	look      = 5 * time.Millisecond
	lookUsage = look / 4
	restFor   = 100 * time.Millisecond
)

// rest waits until nothing goes on any more. In a measured part, the time in which nothing goes on does not count, however
// often it is interrupted by what the run time does on its own.
func (t *trial) rest() {
	for quiet := time.Duration(0); quiet < restFor; {
		began := time.Now()
		before, err := processorTime()
		t.check(err)

		time.Sleep(look)

		after, err := processorTime()
		t.check(err)

		if after-before > lookUsage {
			quiet = 0
		} else {
			took := time.Since(began)
			quiet += took
			t.rested += took
		}

		t.check(context.Cause(t.ctx))
	}
}
