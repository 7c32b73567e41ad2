package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
)

// openRoot makes the root directory if need be, and returns it with its absolute path, free of links.
func openRoot(dir string) (*os.Root, string, error) {
	var err error

	if dir == "" {
		dir, err = freshDir()
	} else {
		err = os.MkdirAll(dir, 0o755)
	}

	if err != nil {
		return nil, "", err
	}

	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", err
	}

	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, "", err
	}

	root, err := os.OpenRoot(dir)

	return root, dir, err
}

// freshDir makes a new directory among the caches of the user, or where temporary files go if there is no such place.
func freshDir() (string, error) {
	if caches, err := os.UserCacheDir(); err == nil {
		above := filepath.Join(caches, "switchyard-example")

		if err := os.MkdirAll(above, 0o755); err == nil {
			return os.MkdirTemp(above, "root-")
		}
	}

	return os.MkdirTemp("", "switchyard-example-")
}

// findDocument returns the path of the document, and writes the sample where there is none and the user named none.
func findDocument(opts Options, root *os.Root, dir string) (string, error) {
	if opts.Config != "" {
		// Later it may go and come back, but one that is not there at first is a slip of the pen.
		if _, err := files.ReadPlain(opts.Config, 0); err != nil {
			return "", fmt.Errorf("-config: %w", err)
		}

		return filepath.Abs(opts.Config)
	}

	// A link, wherever it leads, is somebody's wish where the document shall come from.
	_, err := root.Lstat(document.PathDocument)
	if errors.Is(err, fs.ErrNotExist) {
		err = files.WriteFile(root, document.PathDocument, opts.Sample, 0o644)
	}

	if err != nil {
		return "", fmt.Errorf("-root %s: the sample document cannot be written: %w", dir, err)
	}

	return filepath.Join(dir, document.PathDocument), nil
}
