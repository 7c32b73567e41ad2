// Package files owns the directory that stands for the machine's file system: it puts files there, finds out when
// they drift, removes those it owns, and watches for hands other than its own ([Watcher]).
//
// Everything goes through an [os.Root], so that neither a path nor a symbolic link below the root leads a write out
// of it. A [Tree] starts no goroutine; a [Watcher] has one, which ends with Close.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// Tree is a directory with files that are kept as they shall be. It may be used by several goroutines.
type Tree struct {
	root *os.Root

	// mu guards owned, and makes each change of a file one step with the record of it.
	mu sync.Mutex
	// owned is what Put has put in place, as the ledger in the tree records it.
	owned ledger
	// ledgerPath is where the ledger lies.
	ledgerPath string
}

// Open returns the tree below root. Which files it owns is remembered at ledgerPath, a path inside the tree, so that
// files of an earlier run are known. The tree does not close root.
func Open(root *os.Root, ledgerPath string) (*Tree, error) {
	owned, err := readLedger(root, ledgerPath)
	if err != nil {
		return nil, err
	}

	return &Tree{root: root, owned: owned, ledgerPath: ledgerPath}, nil
}

// Change is what Put had to do.
type Change string

const (
	// Nothing means that the file was as it should be.
	Nothing Change = ""
	// Created means that there was no such file.
	Created Change = "was missing"
	// Content means that the file held something else.
	Content Change = "had other content"
	// Mode means that the permission bits were others.
	Mode Change = "had another mode"
	// Type means that something else than a plain file lay there, such as a symbolic link.
	Type Change = "was not a plain file"
)

// Put makes sure that a plain file with this content and mode lies at the path, and says what it found. The file is
// replaced as a whole: whoever reads it sees the old or the new one, and after a crash one of the two is there.
// Missing directories are made with mode 0755.
func (t *Tree) Put(name string, content []byte, mode fs.FileMode) (Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	change, err := t.compare(name, content, mode)
	if err != nil {
		return Nothing, err
	}

	// The ledger comes first: a file that is recorded and missing does no harm, one that lies there and is not
	// recorded would stay for ever.
	if err := t.recordLocked(name); err != nil {
		return Nothing, err
	}

	if change == Nothing {
		return Nothing, nil
	}

	if err := t.replace(name, content, mode); err != nil {
		return Nothing, err
	}

	return change, nil
}

func (t *Tree) compare(name string, content []byte, mode fs.FileMode) (Change, error) {
	info, err := t.root.Lstat(name)

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Created, nil
	case err != nil:
		return Nothing, err
	case info.IsDir():
		return Nothing, fmt.Errorf("%s: a directory is in the way", name)
	case !info.Mode().IsRegular():
		return Type, nil
	case info.Size() != int64(len(content)):
		return Content, nil
	}

	found, err := t.root.ReadFile(name)

	switch {
	case errors.Is(err, fs.ErrPermission):
		// The owner took away its own right to read; a new file is the way out.
		return Mode, nil
	case err != nil:
		return Nothing, err
	case !bytes.Equal(found, content):
		return Content, nil
	case info.Mode().Perm() != mode.Perm():
		return Mode, nil
	default:
		return Nothing, nil
	}
}

// replace writes a file beside the place and moves it there.
func (t *Tree) replace(name string, content []byte, mode fs.FileMode) error {
	if err := t.makeDirsLocked(path.Dir(name)); err != nil {
		return err
	}

	return WriteFile(t.root, name, content, mode)
}

// makeDirsLocked makes the missing directories one by one, because those it made are its own to remove.
func (t *Tree) makeDirsLocked(dir string) error {
	if dir == "." {
		return nil
	}

	info, err := t.root.Stat(dir)

	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s: must be a directory", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}

	if err := t.makeDirsLocked(path.Dir(dir)); err != nil {
		return err
	}

	if err := t.recordLocked(dir + "/"); err != nil {
		return err
	}

	return t.root.Mkdir(dir, 0o755)
}

// Remove removes a file that the tree owns, and the directories made for it if nothing else is in them. It is no
// error if the file is gone already, or if the tree never owned it: then it is left alone.
func (t *Tree) Remove(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()

	if !t.owned.has(name) {
		return nil
	}

	info, err := t.root.Lstat(name)

	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s: a directory is in the way", name)
	default:
		if err := t.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	t.owned.remove(name)

	for dir := path.Dir(name); dir != "." && t.owned.has(dir+"/"); dir = path.Dir(dir) {
		// A directory that is not empty stays, and stays recorded for the last file in it.
		if err := t.root.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break
		}

		t.owned.remove(dir + "/")
	}

	return t.owned.write(t.root, t.ledgerPath)
}

// Owned lists the files that the tree owns, sorted.
func (t *Tree) Owned() []string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return slices.DeleteFunc(slices.Clone(t.owned.Paths), func(name string) bool {
		return strings.HasSuffix(name, "/")
	})
}

func (t *Tree) recordLocked(name string) error {
	if !t.owned.add(name) {
		return nil
	}

	if err := t.owned.write(t.root, t.ledgerPath); err != nil {
		t.owned.remove(name)

		return err
	}

	return nil
}

// unfinished begins the names of files that are being written.
const unfinished = ".new-"

// WriteFile writes a file below root in one step: to a file beside it, to disk, and from there to its place. The
// directory has to exist. A file left over from a crash is overwritten by the next attempt.
func WriteFile(root *os.Root, name string, content []byte, mode fs.FileMode) (err error) {
	temporary := path.Join(path.Dir(name), unfinished+path.Base(name))

	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(root.Remove(temporary)))
		}
	}()

	_, err = f.Write(content)
	// The mode is set on the open file: the one given at creation is cut by the umask.
	err = cmp.Or(err, f.Chmod(mode.Perm()), f.Sync())

	if err = cmp.Or(err, f.Close()); err != nil {
		return err
	}

	if err := root.Rename(temporary, name); err != nil {
		return err
	}

	return syncDir(root, path.Dir(name))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	return err
}

// syncDir makes a rename last.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}

	return cmp.Or(d.Sync(), d.Close())
}
