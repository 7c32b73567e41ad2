package files

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// ReadPlain returns what a plain file holds, or the first limit bytes of it. Anything else than a plain file is an
// error, also where it would never stop to have something to say, or never begin.
func ReadPlain(name string, limit int64) ([]byte, error) {
	// To open a pipe waits for somebody to write to it, unless it is asked not to.
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", name)
	}

	return io.ReadAll(io.LimitReader(f, limit))
}
