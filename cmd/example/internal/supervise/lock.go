package supervise

import (
	"errors"
	"os"
	"path"
	"syscall"
)

// lock keeps a second control plane out of a root. The system releases it when the process ends, however it ends.
type lock struct{ file *os.File }

func takeLock(root *os.Root, dir string) (*lock, error) {
	file, err := root.OpenFile(path.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}

	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()

		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another control plane is at work here")
		}

		return nil, err
	}

	return &lock{file}, nil
}

func (l *lock) release() error { return l.file.Close() }
