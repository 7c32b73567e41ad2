package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// Watcher tells when something changes in a set of directories. It does not say what: whoever is told looks at the
// files anyway. What [WriteFile] does before a file takes its place is nobody's business, and is not told; otherwise a
// write that fails would be a reason to try again at once, for ever.
//
// Its goroutine ends with Close, which waits for it.
type Watcher struct {
	inner *fsnotify.Watcher
	done  sync.WaitGroup
}

// Watch starts a watcher of no directories. It calls changed from its goroutine for every change and must not be
// blocked by it. When changes come faster than they can be read, changed is called once for those that were lost.
// Other trouble goes to failed.
func Watch(changed func(), failed func(error)) (*Watcher, error) {
	inner, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("files cannot be watched: %w", err)
	}

	w := &Watcher{inner: inner}

	w.done.Go(func() {
		events, failures := inner.Events, inner.Errors

		for events != nil || failures != nil {
			select {
			case event, open := <-events:
				switch {
				case !open:
					events = nil
				case !strings.HasPrefix(filepath.Base(event.Name), unfinished):
					changed()
				}
			case err, open := <-failures:
				switch {
				case !open:
					failures = nil
				case errors.Is(err, fsnotify.ErrEventOverflow):
					changed()
				default:
					failed(err)
				}
			}
		}
	})

	return w, nil
}

// Directories makes the watcher watch these directories and no others. A directory that does not exist, or that a file
// is in the way of, is left out; watch the one above it to learn when it appears, and call Directories again then.
func (w *Watcher) Directories(dirs []string) error {
	for _, old := range w.inner.WatchList() {
		if !slices.Contains(dirs, old) {
			// The kernel forgets a directory that was removed by itself, so the call may come too late.
			if err := w.inner.Remove(old); err != nil && !errors.Is(err, fsnotify.ErrNonExistentWatch) {
				return err
			}
		}
	}

	for _, dir := range dirs {
		err := w.inner.Add(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return fmt.Errorf("%s cannot be watched: %w", dir, err)
		}
	}

	return nil
}

// Close stops the watcher; nothing is called after it has returned.
func (w *Watcher) Close() error {
	err := w.inner.Close()

	w.done.Wait()

	return err
}
