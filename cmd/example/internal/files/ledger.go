package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

// ledger is the list of what a tree owns. Directories end in a slash.
type ledger struct {
	// Paths is sorted and without duplicates.
	Paths []string `json:"paths"`
}

func readLedger(root *os.Root, name string) (ledger, error) {
	var l ledger

	text, err := root.ReadFile(name)

	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l, nil
	case err != nil:
		return l, err
	}

	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%s: the record of owned files cannot be read: %w", name, err)
	}

	slices.Sort(l.Paths)
	l.Paths = slices.Compact(l.Paths)

	return l, nil
}

func (l *ledger) write(root *os.Root, name string) error {
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}

	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}

	return WriteFile(root, name, append(text, '\n'), 0o644)
}

func (l *ledger) has(name string) bool {
	_, found := slices.BinarySearch(l.Paths, name)

	return found
}

// add returns whether the name is new.
func (l *ledger) add(name string) bool {
	at, found := slices.BinarySearch(l.Paths, name)
	if !found {
		l.Paths = slices.Insert(l.Paths, at, name)
	}

	return !found
}

func (l *ledger) remove(name string) {
	if at, found := slices.BinarySearch(l.Paths, name); found {
		l.Paths = slices.Delete(l.Paths, at, at+1)
	}
}
