//go:build !unix

package cli

import "os"

// resize is nothing: the next look finds out.
var resize os.Signal
