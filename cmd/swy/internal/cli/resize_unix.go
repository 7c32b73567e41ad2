//go:build unix

package cli

import (
	"os"
	"syscall"
)

// resize is what tells that the terminal has another size.
var resize os.Signal = syscall.SIGWINCH
