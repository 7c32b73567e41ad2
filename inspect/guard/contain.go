package guard

import (
	"errors"
	"net/http"
	"runtime/debug"

	"go.uber.org/zap"
)

// contain lets the next handler answer. If it panics, that is the answer; one that has begun is broken off, since who reads it
// should not take it for whole.
func (g *guard) contain(w http.ResponseWriter, r *http.Request) {
	tracked := &response{ResponseWriter: w}

	defer func() {
		reason := recover()
		if reason == nil {
			return
		}

		if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(reason)
		}

		g.cfg.Logger.Error("a request has made its handler panic",
			zap.String("path", r.URL.Path), zap.Any("panic", reason), zap.ByteString("stack", debug.Stack()))

		if tracked.begun {
			panic(http.ErrAbortHandler)
		}

		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "ETag", "Last-Modified"} {
			w.Header().Del(name)
		}

		harden(w.Header())
		g.cfg.Refuse(w, r, Refusal{http.StatusInternalServerError, "the answer can not be made", "the log of the host says why"})
	}()

	g.next.ServeHTTP(tracked, r)
}

// response remembers whether the answer has begun.
type response struct {
	http.ResponseWriter

	begun bool
}

// WriteHeader implements [http.ResponseWriter].
func (w *response) WriteHeader(status int) {
	w.begun = w.begun || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *response) Write(p []byte) (int, error) {
	w.begun = true

	return w.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// FlushError is for [http.ResponseController].
func (w *response) FlushError() error {
	w.begun = true

	return http.NewResponseController(w.ResponseWriter).Flush()
}
