package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
)

func TestPlacesAreWhereAChangeShows(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)

	in := func(name string) string { return filepath.Join(dir, name) }

	for _, made := range []string{"plain", "mounted/..v1", "releases/v1", "app"} {
		require.NoError(t, os.MkdirAll(in(made), 0o755))
	}

	for _, file := range []string{"plain/doc", "mounted/..v1/doc", "releases/v1/doc"} {
		require.NoError(t, os.WriteFile(in(file), nil, 0o644))
	}

	for link, target := range map[string]string{
		"mounted/..data": "..v1",
		"mounted/doc":    "..data/doc",
		"app/current":    "../releases/v1",
		"app/doc":        in("mounted/doc"),
		"app/dangling":   in("plain/nothing"),
		"app/circle":     "circle",
	} {
		require.NoError(t, os.Symlink(target, in(link)))
	}

	for name, want := range map[string][]string{
		"plain/doc":        {"plain"},
		"plain/nothing":    {"plain"},
		"nowhere/a/doc":    {"."},
		"plain/doc/more":   {"plain/doc"},
		"mounted/doc":      {"mounted", "mounted/..v1"},
		"app/doc":          {"app", "mounted", "mounted/..v1"},
		"app/current/doc":  {"app", "releases/v1"},
		"app/current/none": {"app", "releases/v1"},
		"app/dangling":     {"app", "plain"},
		"app/circle":       {"app"},
	} {
		for i := range want {
			want[i] = in(want[i])
		}

		assert.Equal(t, want, files.Places(in(name)), name)
	}
}

// TestPlacesFollowEachChange plays what changes where a path leads, with nothing watched but the places.
func TestPlacesFollowEachChange(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)

	in := func(name string) string { return filepath.Join(dir, name) }

	require.NoError(t, os.MkdirAll(in("v1"), 0o755))
	require.NoError(t, os.MkdirAll(in("v2"), 0o755))
	require.NoError(t, os.Symlink("v1", in("current")))

	told := make(chan struct{}, 1)

	w, err := files.Watch(func() {
		select {
		case told <- struct{}{}:
		default:
		}
	}, func(err error) { assert.NoError(t, err) })
	require.NoError(t, err)

	t.Cleanup(func() { assert.NoError(t, w.Close()) })

	for _, change := range []func() error{
		func() error { return os.WriteFile(in("v1/doc"), nil, 0o644) },
		func() error {
			if err := os.Symlink("v2", in("new")); err != nil {
				return err
			}

			return os.Rename(in("new"), in("current"))
		},
		func() error { return os.WriteFile(in("v2/doc"), nil, 0o644) },
		func() error { return os.RemoveAll(in("v2")) },
		func() error { return os.Mkdir(in("v2"), 0o755) },
		func() error { return os.WriteFile(in("v2/doc"), nil, 0o644) },
	} {
		require.NoError(t, w.Directories(files.Places(in("current/doc"))))

		// What was told before is about the past.
		select {
		case <-told:
		default:
		}

		require.NoError(t, change())

		select {
		case <-told:
		case <-time.After(10 * time.Second):
			require.FailNow(t, "nothing was told")
		}
	}
}
