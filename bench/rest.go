package main

import (
	"context"
	"time"
)

// Nothing goes on any more when the process has used next to nothing of the processor for a while.
const (
	look      = 5 * time.Millisecond
	lookUsage = look / 20
	restFor   = 100 * time.Millisecond
)

// rest waits until nothing goes on any more. In a measured part, the time in which nothing went on does not count.
func (t *trial) rest() {
	for quiet := time.Now(); time.Since(quiet) < restFor; {
		before, err := processorTime()
		t.check(err)

		time.Sleep(look)

		after, err := processorTime()
		t.check(err)

		if after-before > lookUsage {
			quiet = time.Now()
		} else if took := time.Since(quiet); took >= restFor {
			t.rested += took
		}

		t.check(context.Cause(t.ctx))
	}
}
