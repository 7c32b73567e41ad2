package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
)

func open(t *testing.T, dir string) *files.Tree {
	t.Helper()

	root, err := os.OpenRoot(dir)
	require.NoError(t, err)

	t.Cleanup(func() { assert.NoError(t, root.Close()) })

	tree, err := files.Open(root, "state/files.json")
	require.NoError(t, err)

	return tree
}

func TestPutRepairsEveryKindOfDrift(t *testing.T) {
	dir := t.TempDir()
	tree := open(t, dir)
	place := filepath.Join(dir, "etc", "deep", "motd")

	for _, drift := range []struct {
		name string
		do   func() error
		want files.Change
	}{
		{"first", func() error { return nil }, files.Created},
		{"none", func() error { return nil }, files.Nothing},
		{"other content of the same length", func() error { return os.WriteFile(place, []byte("HELLO"), 0o640) }, files.Content},
		{"longer content", func() error { return os.WriteFile(place, []byte("hello there"), 0o640) }, files.Content},
		{"another mode", func() error { return os.Chmod(place, 0o600) }, files.Mode},
		{"deleted", func() error { return os.Remove(place) }, files.Created},
		{"deleted with its directory", func() error { return os.RemoveAll(filepath.Join(dir, "etc")) }, files.Created},
		{"a link to the same content", func() error {
			if err := os.WriteFile(place+".orig", []byte("hello"), 0o640); err != nil {
				return err
			}

			if err := os.Remove(place); err != nil {
				return err
			}

			return os.Symlink("motd.orig", place)
		}, files.Type},
	} {
		t.Run(drift.name, func(t *testing.T) {
			require.NoError(t, drift.do())

			change, err := tree.Put("etc/deep/motd", []byte("hello"), 0o640)
			require.NoError(t, err)
			assert.Equal(t, drift.want, change)

			content, err := os.ReadFile(place)
			require.NoError(t, err)
			assert.Equal(t, "hello", string(content))

			info, err := os.Lstat(place)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o640), info.Mode())
		})
	}
}

func TestPutDoesNotFollowALinkOutOfTheRoot(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	tree := open(t, dir)

	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("theirs"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "etc")))

	_, err := tree.Put("etc/file", []byte("ours"), 0o644)
	require.Error(t, err)

	_, err = tree.Put("etc/new", []byte("ours"), 0o644)
	require.Error(t, err)

	// A link in the place of the file itself is replaced, not followed.
	require.NoError(t, os.Symlink(filepath.Join(outside, "file"), filepath.Join(dir, "link")))

	change, err := tree.Put("link", []byte("ours"), 0o644)
	require.NoError(t, err)
	assert.Equal(t, files.Type, change)

	content, err := os.ReadFile(filepath.Join(outside, "file"))
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(content))

	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestPutNamesADirectoryInTheWay(t *testing.T) {
	dir := t.TempDir()
	tree := open(t, dir)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "motd"), 0o755))

	_, err := tree.Put("motd", []byte("hello"), 0o644)
	assert.ErrorContains(t, err, "motd: a directory is in the way")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc"), nil, 0o644))

	_, err = tree.Put("etc/motd", []byte("hello"), 0o644)
	assert.ErrorContains(t, err, "etc")
}

func TestRemoveTakesOnlyWhatItOwns(t *testing.T) {
	dir := t.TempDir()
	tree := open(t, dir)

	require.NoError(t, os.Mkdir(filepath.Join(dir, "etc"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc", "theirs"), nil, 0o644))

	for _, name := range []string{"etc/ours", "etc/a/b/one", "etc/a/two"} {
		_, err := tree.Put(name, []byte("x"), 0o644)
		require.NoError(t, err)
	}

	assert.Equal(t, []string{"etc/a/b/one", "etc/a/two", "etc/ours"}, tree.Owned())

	require.NoError(t, tree.Remove("etc/theirs"))
	assert.FileExists(t, filepath.Join(dir, "etc", "theirs"))

	// A directory made for several files goes with the last of them.
	require.NoError(t, tree.Remove("etc/a/b/one"))
	assert.NoDirExists(t, filepath.Join(dir, "etc", "a", "b"))
	assert.FileExists(t, filepath.Join(dir, "etc", "a", "two"))

	// Another run knows what this one owned.
	tree = open(t, dir)
	assert.Equal(t, []string{"etc/a/two", "etc/ours"}, tree.Owned())

	require.NoError(t, os.Remove(filepath.Join(dir, "etc", "ours")))

	for _, name := range tree.Owned() {
		require.NoError(t, tree.Remove(name))
	}

	assert.NoDirExists(t, filepath.Join(dir, "etc", "a"))
	assert.DirExists(t, filepath.Join(dir, "etc"), "a directory that was there before stays")
	assert.Empty(t, tree.Owned())
}
