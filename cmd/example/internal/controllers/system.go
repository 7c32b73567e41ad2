package controllers

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// systemFacts are the facts that the system knows.
func systemFacts() (resources.FactsSpec, error) {
	return resources.FactsSpec{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Kernel: kernelRelease(), MemoryMiB: memoryMiB(),
	}, nil
}

// kernelRelease and memoryMiB read what Linux shows of itself; elsewhere they know nothing, which templates see as
// empty and 0.

func kernelRelease() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}

	return strings.TrimSpace(string(text))
}

func memoryMiB() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}

	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
			if kib, err := strconv.Atoi(fields[1]); err == nil {
				return kib / 1024
			}
		}
	}

	return 0
}
