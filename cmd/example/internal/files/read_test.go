package files_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
)

func TestReadPlain(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")

	require.NoError(t, os.WriteFile(file, []byte("hello"), 0o600))
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(file, link))

	text, err := files.ReadPlain(link, 10)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(text))

	text, err = files.ReadPlain(file, 2)
	require.NoError(t, err)
	assert.Equal(t, "he", string(text))

	_, err = files.ReadPlain(pipe, 10)
	assert.EqualError(t, err, pipe+" is no plain file")

	_, err = files.ReadPlain("/dev/zero", 10)
	assert.EqualError(t, err, "/dev/zero is no plain file")

	_, err = files.ReadPlain(dir, 10)
	assert.EqualError(t, err, dir+" is a directory")

	_, err = files.ReadPlain(filepath.Join(dir, "nothing"), 10)
	assert.ErrorIs(t, err, os.ErrNotExist)
}
