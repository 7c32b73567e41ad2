package live

import (
	"context"
	"maps"
	"slices"

	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/follow"
)

const (
	// mostTold is how many passes are told of after one look at most: the last ones.
	mostTold = 2000
	// mostLots is how many lots wait for somebody who is slow.
	mostLots = 4
)

// Why passes are dropped.
const (
	whyForgotten = "the engine has forgotten them before they could be told: it remembers few passes of each controller"
	whyMany      = "there were more than can be told at once"
	whySlow      = "who follows does not read fast enough"
)

// lot is the passes that have ended between two looks. It does not change.
type lot struct {
	told []told
	// forgotten and more count those that are not told, by controller.
	forgotten, more map[string]uint64
}

// told is a pass as it is sent.
type told struct {
	controller string
	text       []byte
}

func lotOf(answers *answer.Answers, news *follow.News) *lot {
	l := &lot{forgotten: news.Forgotten, more: map[string]uint64{}}
	ended := news.Ended

	for ; len(ended) > mostTold; ended = ended[1:] {
		l.more[ended[0].Controller]++
	}

	for i := range ended {
		l.told = append(l.told, told{ended[i].Controller, message(api.EventPass, answers.PassOf(&ended[i]))})
	}

	return l
}

// Follow is a stream for somebody who follows the passes of an engine. It is not safe for concurrent use.
type Follow struct {
	hub        *Hub
	controller string
	lots       chan waiting
	silent     int

	// lost counts what was dropped since there was no place for it, by controller. The lock of the hub guards it.
	lost map[string]uint64
}

// waiting is a lot that waits, and what was dropped before it since there was no place.
type waiting struct {
	*lot

	lost map[string]uint64
}

// Follow returns a stream of the passes of a controller, or with no name of all, that end from now on. Close it when it is not
// needed any more.
func (h *Hub) Follow(controller string) (*Follow, error) {
	f := &Follow{hub: h, controller: controller, lots: make(chan waiting, mostLots), lost: map[string]uint64{}}

	if err := h.enter(func() { h.follows[f] = struct{}{} }); err != nil {
		return nil, err
	}

	return f, nil
}

// Close ends the stream.
func (f *Follow) Close() {
	f.hub.leave(func() { delete(f.hub.follows, f) })
}

// put puts a lot before who follows. It is called under the lock of the hub.
func (f *Follow) put(l *lot) {
	select {
	case f.lots <- waiting{l, f.lost}:
		f.lost = map[string]uint64{}

		return
	default:
	}

	for i := range l.told {
		f.lost[l.told[i].controller]++
	}

	add(f.lost, l.forgotten)
	add(f.lost, l.more)
}

// Next waits until there is something to send: passes that have ended, or that some were dropped. The error is that of the context,
// or [ErrClosed].
func (f *Follow) Next(ctx context.Context) ([]byte, error) {
	for {
		select {
		case l := <-f.lots:
			if text := f.text(l); len(text) > 0 {
				f.silent = 0

				return text, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.hub.closing:
			return nil, ErrClosed
		}

		if f.silent++; f.silent == quiet {
			f.silent = 0

			return []byte(alive), nil
		}
	}
}

// text is a lot as it is sent, after what was dropped.
func (f *Follow) text(l waiting) []byte {
	text := slices.Concat(f.dropped(l.lost, whySlow), f.dropped(l.forgotten, whyForgotten), f.dropped(l.more, whyMany))

	for i := range l.told {
		if f.wants(l.told[i].controller) {
			text = append(text, l.told[i].text...)
		}
	}

	return text
}

func (f *Follow) wants(controller string) bool {
	return f.controller == "" || f.controller == controller
}

// dropped is what is said of passes that are not told; nothing if there are none.
func (f *Follow) dropped(counts map[string]uint64, why string) []byte {
	d := api.Dropped{Controllers: []api.DroppedPart{}, Why: why}

	for _, name := range slices.Sorted(maps.Keys(counts)) {
		if f.wants(name) {
			d.Passes += counts[name]
			d.Controllers = append(d.Controllers, api.DroppedPart{Controller: name, Passes: counts[name]})
		}
	}

	if d.Passes == 0 {
		return nil
	}

	return message(api.EventDropped, &d)
}

func add(counts, more map[string]uint64) {
	for name, n := range more {
		counts[name] += n
	}
}
