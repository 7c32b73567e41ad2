package guard_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/guard"
)

const secret = "0123456789:abcdef"

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		secret:                     "",
		"short":                    "has 5 bytes",
		"":                         "openssl rand -hex 32",
		"0123456789 abcdef":        "can not be sent",
		"0123456789\x00abcdef":     "can not be sent",
		"0123456789äabcdef":        "can not be sent",
		strings.Repeat("a", 1<<16): "more than",
	} {
		_, err := guard.NewToken(text)

		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()

	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))

		return path
	}

	token, err := guard.ReadToken(write("good", "\n"+secret+"\n", 0o400))
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, ask(guard.RequireToken(token, http.HandlerFunc(ok)), http.MethodGet, "", "/", "Authorization", "Bearer "+secret).Code)

	for path, want := range map[string]string{
		write("world", secret, 0o604):    "chmod 600",
		write("group", secret, 0o640):    "chmod 600",
		write("short", "short\n", 0o600): "has 5 bytes",
		dir:                              "no regular file",
		filepath.Join(dir, "missing"):    "no such file",
	} {
		_, err := guard.ReadToken(path)
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, path)
	}
}

func TestRequireToken(t *testing.T) {
	token, err := guard.NewToken(secret)
	require.NoError(t, err)

	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

	for authorization, want := range map[string]int{
		"":                         http.StatusUnauthorized,
		"Bearer " + secret:         http.StatusOK,
		"bearer  " + secret:        http.StatusOK,
		"Bearer " + secret + "x":   http.StatusUnauthorized,
		"Bearer":                   http.StatusUnauthorized,
		"Digest " + secret:         http.StatusUnauthorized,
		secret:                     http.StatusUnauthorized,
		basic("anybody:" + secret): http.StatusOK,
		basic(":" + secret):        http.StatusOK,
		basic(secret + ":"):        http.StatusUnauthorized,
		basic("anybody"):           http.StatusUnauthorized,
	} {
		w := ask(guard.RequireToken(token, http.HandlerFunc(ok)), http.MethodGet, "localhost", "/", "Authorization", authorization)
		assert.Equal(t, want, w.Code, authorization)

		if want == http.StatusUnauthorized {
			assert.Len(t, w.Header().Values("WWW-Authenticate"), 2)
			assert.NotContains(t, w.Body.String(), secret)
		}
	}

	// No token is known by nobody.
	assert.Equal(t, http.StatusUnauthorized, ask(guard.RequireToken(guard.Token{}, http.HandlerFunc(ok)), http.MethodGet, "localhost", "/").Code)
}
