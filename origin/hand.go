package origin

import (
	"context"
	"sync/atomic"
)

// Hand is one of several workers of a controller. It is the context of its passes: what is written under it, or under one made of
// it, is known to be written by this worker.
type Hand struct {
	context.Context

	own  *Own
	made atomic.Uint64
}

// handKey is the key under which a context holds whose it is.
type handKey struct{ own *Own }

// NewHand returns the context of one worker. It returns nil on nil, where nobody asks who has written.
func (o *Own) NewHand(ctx context.Context) *Hand {
	if o == nil {
		return nil
	}

	o.hands.Store(true)

	return &Hand{Context: ctx, own: o}
}

// Value implements [context.Context].
func (h *Hand) Value(key any) any {
	if key == any(handKey{h.own}) {
		return h
	}

	return h.Context.Value(key)
}

// Made counts the writes that have changed what the controller is told of, and were made by this worker, or by nobody who is
// known. It only grows.
func (h *Hand) Made() uint64 { return h.made.Load() + h.own.Made() }

// count counts a write under the context. Where a controller has one worker, whose context it is need not be asked.
func (o *Own) count(ctx context.Context) {
	if !o.hands.Load() {
		o.made.Add(1)
	} else if h, ok := ctx.Value(handKey{o}).(*Hand); ok {
		h.made.Add(1)
	} else {
		o.made.Add(1)
	}
}
