package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode"
)

// Bounds of a token, in bytes.
const (
	minToken = 16
	maxToken = 4096
)

// Token is a secret that whoever asks has to know. Only what can be compared with it is kept.
type Token struct{ sum [sha256.Size]byte }

// NewToken returns a token. It has to be printable, without spaces, and of 16 bytes at least.
func NewToken(secret string) (Token, error) {
	switch {
	case len(secret) < minToken:
		return Token{}, fmt.Errorf("the token has %d bytes, and should have %d at least: make one with openssl rand -hex 32", len(secret), minToken)
	case len(secret) > maxToken:
		return Token{}, fmt.Errorf("the token has more than %d bytes", maxToken)
	case strings.ContainsFunc(secret, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }):
		return Token{}, errors.New("the token has characters that can not be sent: make one with openssl rand -hex 32")
	}

	return Token{sha256.Sum256([]byte(secret))}, nil
}

// ReadToken reads a token from a file that nobody but its owner may read. Space around it does not count.
func ReadToken(path string) (Token, error) {
	file, err := os.Open(path)
	if err != nil {
		return Token{}, err
	}

	defer file.Close()

	info, err := file.Stat()

	switch {
	case err != nil:
		return Token{}, err
	case !info.Mode().IsRegular():
		return Token{}, fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return Token{}, fmt.Errorf("%s may be read or written by others than its owner (%s): run chmod 600 on it", path, info.Mode().Perm())
	}

	text, err := io.ReadAll(io.LimitReader(file, 2*maxToken))
	if err != nil {
		return Token{}, err
	}

	token, err := NewToken(strings.TrimSpace(string(text)))
	if err != nil {
		return Token{}, fmt.Errorf("%s: %w", path, err)
	}

	return token, nil
}

// is tells whether a secret is the token, in a time that says nothing about it.
func (t Token) is(secret string) bool {
	sum := sha256.Sum256([]byte(secret))

	return subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1
}

// RequireToken returns a handler that lets those requests through to the next one that bring the token: as a bearer, or as the
// password of anybody, which is what a browser asks for.
func RequireToken(token Token, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !token.is(secretOf(r)) {
			harden(w.Header())
			w.Header().Add("WWW-Authenticate", `Basic realm="give the token as the password", charset="UTF-8"`)
			w.Header().Add("WWW-Authenticate", "Bearer")
			http.Error(w, "this server asks for a token; send it as Authorization: Bearer TOKEN, or as the password of any user", http.StatusUnauthorized)

			return
		}

		next.ServeHTTP(w, r)
	})
}

// secretOf is the secret that a request brings, or nothing.
func secretOf(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}

	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}

	return strings.TrimSpace(secret)
}
