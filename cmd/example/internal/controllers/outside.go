package controllers

// This file is how controllers speak to the world outside the state: through package recording, so that a run can be
// recorded with what the world has answered, and replayed without it. What is asked is told with all that matters.

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// watcher is a [files.Watcher]; in a replay it is none, and watches nothing.
type watcher struct{ inner *files.Watcher }

// watch starts a watcher that wakes a controller.
func watch(ctx context.Context, what string, changed func(), logger *zap.Logger) (*watcher, error) {
	w := &watcher{}

	return w, recording.Do(ctx, "to watch "+what, func() (err error) {
		w.inner, err = files.Watch(changed, func(err error) {
			logger.Warn("trouble while watching "+what, zap.Error(err))
		})

		return err
	})
}

// directories makes it watch these directories and no others.
func (w *watcher) directories(ctx context.Context, dirs []string) error {
	return recording.Do(ctx, "to watch the directories "+strings.Join(dirs, " "), func() error {
		return w.inner.Directories(dirs)
	})
}

// places makes it watch all directories that decide where a path leads.
func (w *watcher) places(ctx context.Context, path string) error {
	return recording.Do(ctx, "to watch where "+path+" leads", func() error {
		return w.inner.Directories(files.Places(path))
	})
}

func (w *watcher) close() {
	if w.inner != nil {
		_ = w.inner.Close() // there is nothing left to do about it
	}
}

func putFile(ctx context.Context, tree *files.Tree, name string, content []byte, mode fs.FileMode) (files.Change, error) {
	return recording.Ask(ctx, fmt.Sprintf("to put %s in place with mode %o and content %s", name, mode, document.Digest(content)),
		func() (files.Change, error) { return tree.Put(name, content, mode) })
}

func removeFile(ctx context.Context, tree *files.Tree, name string) error {
	return recording.Do(ctx, "to remove the file "+name, func() error { return tree.Remove(name) })
}

func ownedFiles(ctx context.Context, tree *files.Tree) ([]string, error) {
	return recording.Ask(ctx, "which files are owned", func() ([]string, error) { return tree.Owned(), nil })
}

func setUnit(ctx context.Context, s *supervise.Supervisor, name string, def supervise.Definition) error {
	return recording.Do(ctx, fmt.Sprintf("to have %s run as %+v", name, def), func() error { return s.Set(name, def) })
}

func removeUnit(ctx context.Context, s *supervise.Supervisor, name string) error {
	return recording.Do(ctx, "to have "+name+" stopped", func() error {
		s.Remove(name)

		return nil
	})
}

func restartUnit(ctx context.Context, s *supervise.Supervisor, name string, instance uint64, why string) error {
	return recording.Do(ctx, fmt.Sprintf("to have instance %d of %s restarted: %s", instance, name, why), func() error {
		s.Restart(name, instance, why)

		return nil
	})
}

// unitStatus returns nil where there is no unit of the name.
func unitStatus(ctx context.Context, s *supervise.Supervisor, name string) (*supervise.Status, error) {
	return recording.Ask(ctx, "how "+name+" is", func() (*supervise.Status, error) {
		status, ok := s.Status(name)
		if !ok {
			return nil, nil
		}

		return &status, nil
	})
}
