package recording

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// ErrState is what a recorder reports that has seen a controller write without a change of the state.
var ErrState = errors.New("a controller has changed a resource and the recorder has not seen it: the engine has to run on what Recorder.State returns")

// ErrNoControllers is what a recorder reports that has seen changes of the state and no controller, and what [Replay] returns
// for a recording of that kind: it would show nothing.
var ErrNoControllers = errors.New("the recording has changes of the state and no controllers: they have to be registered with what Recorder.Engine returns")

// ErrClosed is what a recorder reports that is closed a second time.
var ErrClosed = errors.New("the recorder is closed already")

// Recorder writes a recording. What goes wrong with that, as with a full disk or a resource of a type that nobody has
// registered, ends the recording and nothing else; [Recorder.Close] tells of it.
type Recorder struct {
	out io.Writer

	// mu guards what follows, and puts the lines in order.
	mu     sync.Mutex
	failed error
	closed bool
	lines  int
	// controllers and changes tell whether there were any.
	controllers, changes bool
	// numbers are those of contents, by what identifies them.
	numbers map[[sha256.Size]byte]int
	calls   int
	passes  sequence
	state   digest

	stripes stripes
}

// New returns a recorder that writes to w, one line with each call.
func New(w io.Writer) *Recorder {
	r := &Recorder{out: w, numbers: map[[sha256.Size]byte]int{}, state: digest{}}
	r.put(line{Recording: &header{Version: version}})

	return r
}

// Engine returns an engine that records the controllers that are registered through it. Each does so in a live engine as
// before: it is the given one that they run on.
func (r *Recorder) Engine(engine controller.Engine) controller.Engine {
	return &recordedEngine{engine, r}
}

type recordedEngine struct {
	controller.Engine

	rec *Recorder
}

// RegisterController implements [controller.Engine].
func (e *recordedEngine) RegisterController(ctrl controller.Controller) error {
	e.rec.enrol(ctrl.Name(), classicForm)

	return e.Engine.RegisterController(&recordedController{ctrl, e.rec})
}

// RegisterQController implements [controller.Engine].
func (e *recordedEngine) RegisterQController(ctrl controller.QController) error {
	e.rec.enrol(ctrl.Name(), queueForm)

	return e.Engine.RegisterQController(&recordedQController{ctrl, e.rec})
}

func (r *Recorder) enrol(name string, form form) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.controllers = true

	r.putLocked(line{Controller: &enrolled{Name: name, Form: form}})
}

// Close ends the recording. It is called after the engine has ended, and returns what there is to tell of the recording, or
// why it is not complete. Nothing is recorded after it. Close does not close what is written to.
func (r *Recorder) Close() (Summary, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.closed {
		return Summary{}, ErrClosed
	}

	sum := r.passes.summary(r.state)

	r.putLocked(line{End: &end{Lines: r.lines, Summary: sum}})

	r.closed = true

	if r.changes && !r.controllers {
		r.failLocked(ErrNoControllers)
	}

	return sum, r.failed
}

// Err returns why the recording has ended before its time; nil as long as it goes on.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.failed
}

func (r *Recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.failLocked(err)
}

func (r *Recorder) failLocked(err error) {
	if r.failed == nil {
		r.failed = fmt.Errorf("recording: %w", err)
	}
}

func (r *Recorder) put(l line) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.putLocked(l)
}

func (r *Recorder) putLocked(l line) {
	if r.failed != nil || r.closed {
		return
	}

	text, err := json.Marshal(l)
	if err != nil {
		r.failLocked(err)

		return
	}

	if _, err := r.out.Write(append(text, '\n')); err != nil {
		r.failLocked(err)

		return
	}

	r.lines++
}

// number returns the number under which a resource, as it is now, is in the recording; 0 of none.
func (r *Recorder) number(res resource.Resource) int {
	if res == nil {
		return 0
	}

	c, err := encode(res)
	if err != nil {
		r.fail(err)

		return 0
	}

	sum, err := c.sum()
	if err != nil {
		r.fail(err)

		return 0
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	n, known := r.numbers[sum]
	if !known {
		n = len(r.numbers) + 1
		r.numbers[sum] = n

		r.putLocked(line{Resource: &numbered{Number: n, Content: c}})
	}

	return n
}

// begin notes the beginning of a pass and returns its number.
func (r *Recorder) begin(b begin) int {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.passes.add(b.pass())
	b.Pass = r.passes.passes

	r.putLocked(line{Begin: &b})

	return b.Pass
}

// nextCall returns a number for a call.
func (r *Recorder) nextCall() int {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.calls++

	return r.calls
}

// change notes that a resource has become what is given, or was destroyed.
func (r *Recorder) change(ctx context.Context, of name, now resource.Resource) {
	c := change{Of: of}

	if m := markOf(ctx); m != nil {
		c.Call = m.call
	}

	var sum [sha256.Size]byte

	if now != nil {
		c.Content = r.number(now)

		var err error
		if sum, err = hash(now); err != nil {
			r.fail(err)

			return
		}
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if r.closed {
		return
	}

	r.changes = true

	if now == nil {
		delete(r.state, of)
	} else {
		r.state[of] = sum
	}

	r.putLocked(line{Change: &c})
}
