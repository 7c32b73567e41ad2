package inspect

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// patience is how long a client may take to read what is sent, until it is given up.
const patience = 30 * time.Second

// stream is what a client is told bit by bit.
type stream interface {
	Next(ctx context.Context) ([]byte, error)
	Close()
}

// live sends the engine as it is, and what changes from then on.
func (h *Handler) live(w http.ResponseWriter, r *http.Request) {
	h.stream(w, r, nil, func(params) (stream, error) { return h.hub.Watch() })
}

// follow sends passes as they end.
func (h *Handler) follow(w http.ResponseWriter, r *http.Request) {
	h.stream(w, r, []string{"controller"}, func(p params) (stream, error) {
		if p.has("controller") {
			if _, err := h.answers.Passes(p["controller"], 1); err != nil {
				return nil, err
			}
		}

		return h.hub.Follow(p["controller"])
	})
}

// stream opens a stream and sends all that it has, until either side has had enough.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, takes []string, open func(params) (stream, error)) {
	p, err := paramsOf(r, nil, takes)
	if err != nil {
		sendProblem(w, r, h.problem(r, err))

		return
	}

	if r.Method == http.MethodHead {
		w.Header().Set("Content-Type", "text/event-stream")

		return
	}

	s, err := open(p)
	if err != nil {
		sendProblem(w, r, h.problem(r, err))

		return
	}

	defer s.Close()

	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies should not wait for more either

	control := http.NewResponseController(w)

	// Limits of the server are for answers that have an end. A server that has none to lift is fine.
	if err := control.SetReadDeadline(time.Time{}); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}

	text := []byte(begun)

	for err == nil {
		if err = write(control, w, text); err == nil {
			text, err = s.Next(r.Context())
		}
	}

	_ = control.SetWriteDeadline(time.Now().Add(patience)) // for the end of the answer
}

// begun is what a stream begins with, so that whoever asks knows at once that he is heard. Who asks by a browser is told to come
// back in a second when the stream has broken.
const begun = "retry: 1000\n\n"

// write sends text at once.
func write(control *http.ResponseController, w http.ResponseWriter, text []byte) error {
	if err := control.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}

	if _, err := w.Write(text); err != nil {
		return err
	}

	return control.Flush()
}
