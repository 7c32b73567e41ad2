package recording

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
)

// replay makes the passes of one recording.
type replay struct {
	tape   *tape
	engine *replayEngine

	// ctx is ended by cancel when the replay has failed, and by whoever asked for the replay.
	ctx    context.Context
	cancel context.CancelFunc
	// runs are those that have not returned, by controller; open are passes that were cut.
	runs map[string]*follower
	open []*follower

	// mu guards what follows.
	mu     sync.Mutex
	failed error
	// times and contexts are of timers and contexts with teardown, by the number of the call that has made them; products
	// are what was to be written in the replay by the calls that have made the changes: several resources where Modify tried
	// several times.
	times    map[int]chan time.Time
	contexts map[int]context.CancelCauseFunc
	products map[*change][]resource.Resource
}

func newReplay(ctx context.Context, t *tape, e *replayEngine) *replay {
	r := &replay{
		tape: t, engine: e, runs: map[string]*follower{},
		times: map[int]chan time.Time{}, contexts: map[int]context.CancelCauseFunc{}, products: map[*change][]resource.Resource{},
	}

	r.ctx, r.cancel = context.WithCancel(ctx)

	return r
}

// fail ends the replay. The first failure counts.
func (r *replay) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.failed == nil {
		r.failed = err
	}

	r.cancel()
}

func (r *replay) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.failed
}

// timesOf returns the channel of a timer, which may not have been made yet.
func (r *replay) timesOf(number int) chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.times[number] == nil {
		r.times[number] = make(chan time.Time)
	}

	return r.times[number]
}

func (r *replay) keepContext(number int, cancel context.CancelCauseFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.contexts[number] = cancel
}

func (r *replay) endContext(number int, cause error) {
	r.mu.Lock()
	cancel := r.contexts[number]
	delete(r.contexts, number)
	r.mu.Unlock()

	if cancel != nil {
		cancel(cause)
	}
}

// reply makes a reply of the answer of a call.
func (r *replay) reply(c *recordedCall) (reply, error) {
	a := reply{ok: c.Answer.OK, value: c.Answer.Value, err: c.Answer.Error.err(), number: c.Number}

	for _, n := range c.Answer.Resources {
		res, err := r.tape.resource(n)
		if err != nil {
			return a, err
		}

		a.resources = append(a.resources, res)
	}

	return a, nil
}

// made notes what a call has written, where it has changed the state.
func (r *replay) made(c *recordedCall, res resource.Resource) {
	res = res.DeepCopy()

	r.mu.Lock()
	defer r.mu.Unlock()

	for _, ch := range c.changes {
		if ch.Content != 0 {
			r.products[ch] = append(r.products[ch], res)
		}
	}
}

// play makes all passes.
func (r *replay) play() (*Result, error) {
	defer r.cancel()

	result := &Result{Complete: r.tape.end != nil}

	var sequence sequence

	for _, p := range r.tape.passes {
		if p.run != nil {
			r.classic(p)
		} else {
			r.pass(p)
		}

		if r.ctx.Err() != nil {
			r.stuck(p, "nothing more") // unless it is known why

			break
		}

		result.Passes = append(result.Passes, p.pass())
		sequence.add(p.pass())
	}

	r.end()

	if err := r.failure(); err != nil {
		return nil, err
	}

	state, err := r.state()
	if err != nil {
		return nil, err
	}

	result.Summary = sequence.summary(state)

	if end := r.tape.end; end != nil && end.Summary != result.Summary {
		return nil, &FormatError{Line: r.tape.endLine, Problem: fmt.Sprintf(
			"the recording does not add up: it says %+v of what is %+v; something in it was changed", end.Summary, result.Summary)}
	}

	return result, nil
}

// state builds the final state: from what the passes have written in the replay, and from what the recording says of
// changes from outside and of changes that are not of contents.
func (r *replay) state() (digest, error) {
	d := digest{}

	for _, c := range r.tape.changes {
		if c.Content == 0 {
			delete(d, c.Of)

			continue
		}

		res, err := r.product(c)
		if err != nil {
			return nil, err
		}

		sum, err := hash(res)
		if err != nil {
			return nil, err
		}

		d[c.Of] = sum
	}

	return d, nil
}

// product is what a change has made of a resource: where a call has written it, what was written in the replay, under what
// the state had put on it.
func (r *replay) product(c *change) (resource.Resource, error) {
	recorded, err := r.tape.resource(c.Content)
	if err != nil {
		return nil, err
	}

	for _, written := range r.products[c] {
		res, err := settled(written)
		if err != nil {
			return nil, err
		}

		// It does not bear another owner than that of the call, if it is the one.
		if err := r.tape.contents[c.Content].stamp(res); err == nil && resource.Equal(res, recorded) {
			return res, nil
		}
	}

	if len(r.products[c]) > 0 {
		return nil, &FormatError{Line: r.tape.endLine, Problem: fmt.Sprintf(
			"the recording does not add up: call %d has not written what %s became", c.Call, c.Of)}
	}

	return recorded, nil
}

// end lets all go that has not returned, and waits for it.
func (r *replay) end() {
	for _, f := range r.runs {
		f.cancel(context.Canceled)

		<-f.returned

		f.close()
	}

	for _, f := range r.open {
		f.cancel(context.Canceled)
		f.goroutines.Wait()
	}
}

// stuck fails the replay where its context has ended by itself.
func (r *replay) stuck(p *recordedPass, waits string) {
	r.fail(&StuckError{Number: p.Pass, Pass: p.pass(), Waits: waits, Cause: context.Cause(r.ctx)})
}
