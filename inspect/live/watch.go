package live

import "context"

// quiet is after how many looks that have shown nothing new a stream lets hear of itself.
const quiet = 10

// alive is how a stream lets hear of itself. Readers pass over it.
const alive = ": alive\n\n"

// Watch is a stream for somebody who watches the engine. It is not safe for concurrent use.
type Watch struct {
	hub *Hub
	// fresh says that there has been a look since the last time.
	fresh chan struct{}
	// told is the last look that was told of, nil before the first one, and silent how many were not worth telling since.
	told   *snapshot
	silent int
}

// Watch returns a stream. Close it when it is not needed any more.
func (h *Hub) Watch() (*Watch, error) {
	w := &Watch{hub: h, fresh: make(chan struct{}, 1)}

	err := h.enter(func() {
		h.watches[w] = struct{}{}

		if h.now != nil {
			w.wake()
		}
	})
	if err != nil {
		return nil, err
	}

	return w, nil
}

// Close ends the stream.
func (w *Watch) Close() {
	w.hub.leave(func() { delete(w.hub.watches, w) })
}

// wake says that there was a look. Who has not come back since the one before hears of both at once.
func (w *Watch) wake() {
	select {
	case w.fresh <- struct{}{}:
	default:
	}
}

// Next waits until there is something to send: the overview first, and then what has changed since what was sent last. The error is
// that of the context, or [ErrClosed].
func (w *Watch) Next(ctx context.Context) ([]byte, error) {
	for {
		select {
		case <-w.fresh:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.hub.closing:
			return nil, ErrClosed
		}

		if text := w.news(w.hub.latest()); len(text) > 0 {
			w.silent = 0

			return text, nil
		}

		if w.silent++; w.silent == quiet {
			w.silent = 0

			return []byte(alive), nil
		}
	}
}

// news is what is new in a look.
func (w *Watch) news(now *snapshot) []byte {
	before := w.told
	if now == nil || now == before {
		return nil
	}

	w.told = now

	switch {
	case before == nil:
		return now.full()
	case before.number+1 == now.number:
		return now.changed
	default:
		return changeFrom(before, now)
	}
}
