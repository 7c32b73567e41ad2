package recording

import (
	"context"
	"runtime"

	"github.com/cosi-project/runtime/pkg/resource"
)

// stop ends the goroutine of whoever has asked for something that the replay has no answer to: not everybody who asks can be
// given an error, as whoever draws a random number.
func stop() { runtime.Goexit() }

// claim finds what the recorded pass was answered to the question. Where there is nothing, it does not return.
func (f *follower) claim(q question) (*recordedCall, *doing) {
	if f.gate != nil {
		f.gate.settle()
	}

	select {
	case <-f.returned:
		stop() // whoever asks after the end was not recorded either
	default:
	}

	f.mu.Lock()
	f.begun++
	f.noticing = false

	d := &doing{question: q}
	f.made = append(f.made, d)

	var found *recordedCall

	for _, e := range f.pass.entries[f.next:] {
		if e.call == nil || f.claimed[e.call.Number] {
			continue
		}

		if r := e.call.Request; r.Verb == q.verb && r.Of == q.of && r.With == q.with {
			found = e.call

			break
		}
	}

	if found != nil {
		f.claimed[found.Number], d.call = true, found

		f.advanceLocked()
		f.mu.Unlock()

		return found, d
	}

	cut := f.pass.cut
	if cut && !f.completeLocked() {
		close(f.done) // the recording ended before the call was answered
	}

	f.mu.Unlock()

	if !cut {
		f.differ("asked for what it had not asked for", 1)
	}

	stop()

	return nil, nil
}

// answer ends a call.
func (f *follower) answer(c *recordedCall) reply {
	r, err := f.replay.reply(c)
	if err != nil {
		f.failed(err)
	}

	f.mu.Lock()
	f.answered[c.Number] = true

	f.advanceLocked()
	f.mu.Unlock()

	f.lure()

	return r
}

func (f *follower) ask(_ context.Context, q question, _ func(context.Context) reply) reply {
	c, d := f.claim(q)

	if q.writes != nil {
		f.wrote(d, c.Request.Content, q.writes)
		f.replay.made(c, q.writes)
	}

	return f.answer(c)
}

// wrote compares what is written with what was. It returns if they are equal.
func (f *follower) wrote(d *doing, was int, is resource.Resource) {
	is, err := settled(is)
	if err != nil {
		f.failed(err)
	}

	before, err := f.replay.tape.resource(was)
	if err != nil {
		f.failed(err)
	}

	f.mu.Lock()
	d.wrote = append(d.wrote, written{resource: is})
	f.mu.Unlock()

	if before == nil || !resource.Equal(before, is) {
		f.differ("wrote something else", 0)
		stop()
	}
}

func (f *follower) modify(_ context.Context, q question, update update, _ func(context.Context, update) reply) reply {
	c, d := f.claim(q)

	var last error

	for _, a := range c.Attempts {
		var res resource.Resource

		if res, last = f.try(d, a, q.writes, update); last == nil {
			f.replay.made(c, res)
		}
	}

	r := f.answer(c)

	switch {
	case r.err == nil && c.Answer.Own && len(r.resources) == 1:
		// Who has created it gets what it has filled in.
		*q.writes.Metadata() = *r.resources[0].Metadata()
		r.resources[0] = q.writes
	case r.err != nil && last != nil && r.err.Error() == last.Error():
		r.err = last // it is handed through as it is
	}

	return r
}

// try calls the function as it was called, and compares what it makes of the resource, or its error.
func (f *follower) try(d *doing, a attempt, empty resource.Resource, update update) (resource.Resource, error) {
	res := empty

	if !a.New {
		var err error
		if res, err = f.replay.tape.resource(a.Base); err != nil {
			f.replay.fail(err)
			stop()
		}
	}

	err := update(res)

	switch {
	case err == nil && a.Error == nil:
		f.wrote(d, a.Made, res)
	case err == nil || a.Error == nil || err.Error() != a.Error.Text:
		f.mu.Lock()
		d.wrote = append(d.wrote, written{failure: failureOf(err)})
		f.mu.Unlock()

		f.differ("made something else of a resource", 0)
		stop()
	}

	return res, err
}

func (f *follower) teardown(
	ctx context.Context, q question, _ func(context.Context) (context.Context, error),
) (context.Context, error) {
	c, _ := f.claim(q)

	watched, cancel := context.WithCancelCause(ctx)
	f.replay.keepContext(c.Number, cancel)

	if r := f.answer(c); r.err != nil {
		cancel(r.err)

		return nil, r.err
	}

	return watched, nil
}

func (f *follower) keep(t *timer) { t.out = f.replay.timesOf(t.number) }

func (f *follower) failed(err error) {
	f.replay.fail(err)
	stop()
}
