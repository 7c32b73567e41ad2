//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns what the process has used, in user mode and in the kernel.
func processorTime() (time.Duration, error) {
	var used syscall.Rusage

	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0, err
	}

	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), nil
}
