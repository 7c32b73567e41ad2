package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// silence is how long a stream may say nothing. The handler lets hear of itself much more often.
const silence = 45 * time.Second

// errSilent is that a stream has said nothing for too long.
var errSilent = errors.New("nothing was heard for too long")

// Live yields the engine as it is, and then again each time that something has changed. What is yielded is the same value each
// time; it may be read until the next one. It ends with the context, or with an error: who wants to go on begins anew.
func (c *Client) Live(ctx context.Context) iter.Seq2[*api.Live, error] {
	return func(yield func(*api.Live, error) bool) {
		var live *api.Live

		for e, err := range c.events(ctx, "live", nil) {
			switch {
			case err != nil:
			case e.name == api.EventOverview:
				overview := &api.Overview{}
				err = e.decode(c, overview)
				live = api.NewLive(overview)
			case e.name == api.EventChange && live != nil:
				change := &api.Change{}

				if err = e.decode(c, change); err == nil {
					live.Apply(change)
				}
			default:
				continue
			}

			if err != nil {
				yield(nil, err)

				return
			}

			if !yield(live, nil) {
				return
			}
		}
	}
}

// Followed is what a stream of passes tells: one that has ended, or that some were dropped.
type Followed struct {
	Pass    *api.Pass
	Dropped *api.Dropped
}

// Follow yields the passes of a controller, or with no name those of all, as they end. It ends with the context, or with an
// error: who wants to go on begins anew.
func (c *Client) Follow(ctx context.Context, controller string) iter.Seq2[Followed, error] {
	q := url.Values{}
	if controller != "" {
		q.Set("controller", controller)
	}

	return func(yield func(Followed, error) bool) {
		for e, err := range c.events(ctx, "follow", q) {
			var followed Followed

			switch {
			case err != nil:
			case e.name == api.EventPass:
				followed.Pass = &api.Pass{}
				err = e.decode(c, followed.Pass)
			case e.name == api.EventDropped:
				followed.Dropped = &api.Dropped{}
				err = e.decode(c, followed.Dropped)
			default:
				continue
			}

			if err != nil {
				yield(Followed{}, err)

				return
			}

			if !yield(followed, nil) {
				return
			}
		}
	}
}

// event is one event of a stream.
type event struct {
	name string
	data []byte
}

func (e event) decode(c *Client, into any) error {
	if err := json.Unmarshal(e.data, into); err != nil {
		return &StrangerError{c.Address(), http.StatusOK, streamType}
	}

	return nil
}

// events yields the events of a stream. It ends without an error if the context does.
func (c *Client) events(ctx context.Context, path string, query url.Values) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		heard, stop := context.WithCancelCause(ctx)
		defer stop(nil)

		body, contentType, err := c.open(heard, path, query)
		if err == nil {
			defer body.Close()

			if contentType != streamType {
				err = &StrangerError{c.Address(), http.StatusOK, contentType}
			} else {
				err = c.tell(heard, stop, body, yield)
			}
		}

		if err != nil && ctx.Err() == nil {
			yield(event{}, err)
		}
	}
}

// tell yields the events that are read, and returns why there are no more, or nothing if nobody wants more.
func (c *Client) tell(ctx context.Context, stop context.CancelCauseFunc, body io.Reader, yield func(event, error) bool) error {
	watchdog := time.AfterFunc(silence, func() { stop(&UnreachableError{c.Address(), errSilent}) })
	defer watchdog.Stop()

	var (
		lines = bufio.NewReaderSize(body, 64<<10)
		e     event
		began bool
	)

	for {
		line, err := readLine(lines)

		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF // streams have no end of their own
			}

			return c.unreachable(ctx, err)
		}

		watchdog.Reset(silence)

		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))

		switch {
		case len(line) == 0 && began:
			if !yield(e, nil) {
				return nil
			}

			e, began = event{}, false
		case string(name) == "event":
			e.name = string(value)
		case string(name) == "data":
			if began {
				e.data = append(e.data, '\n')
			}

			e.data, began = append(e.data, value...), true
		}
	}
}

var errTooLong = errors.New("an event is too long")

// readLine reads a line without its end.
func readLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)

		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > mostBytes:
			return nil, errTooLong
		}
	}
}
