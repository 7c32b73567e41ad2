package controllertest

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Faults says how likely it is that something fails, each from 0 for never to 1 for always. The zero value lets nothing
// fail. What a schedule has fail is injected between the engine and the state: the script's own calls do not fail.
type Faults struct {
	// Errors is for each call of the state to fail before it has done anything.
	Errors float64
	// LostAnswers is for each write to fail after it was made: the controller does not learn that it was.
	LostAnswers float64
	// Conflicts is for each update to fail as if somebody else had been quicker.
	Conflicts float64
	// HoldUps is for each call to be held up, so that others go first, before it does anything.
	HoldUps float64
	// Delays is for each call to take up to a minute of the world's time before it does anything.
	Delays float64
	// Breaks is for each delivery of a watch to be an error instead, after which the watch is closed.
	Breaks float64
	// Overruns is the same, and the bookmarks that the engine has got are of no use afterwards: it has to list the kind.
	Overruns float64
	// Crashes is for each write to end its pass there, right before or right after it is made.
	Crashes float64
	// Restarts is the same for the whole process: the engine ends there, and a new one is started on the surviving state.
	Restarts float64

	// Losses is for each delivery of a watch of a kind to leave out its first change, without breaking. An engine makes up for it
	// only where Config.AuditInterval is set; [Storm] has none.
	Losses float64

	// Repeats is for each watch that is resumed to begin with events that it has sent before.
	Repeats float64

	// Turns is how many turns of a run have faults. The default is 300, so that a run comes to an end.
	Turns int
}

// Storm returns faults of all kinds that every engine has to live with, at rates that let most passes come through.
func Storm() Faults {
	return Faults{
		Errors: .03, LostAnswers: .02, Conflicts: .05, HoldUps: .1, Delays: .02,
		Breaks: .03, Overruns: .02, Crashes: .02, Restarts: .01, Repeats: .3,
	}
}

// validate returns an error that names a probability which is none.
func (f Faults) validate() error {
	v := reflect.ValueOf(f)

	for i := range v.NumField() {
		if p, ok := v.Field(i).Interface().(float64); ok && !(p >= 0 && p <= 1) {
			return fmt.Errorf("controllertest: Faults.%s is %v: give a probability from 0 to 1", v.Type().Field(i).Name, p)
		}
	}

	if f.Turns < 0 {
		return fmt.Errorf("controllertest: Faults.Turns is %d: give a number of turns, or 0 for %d", f.Turns, faultyTurns)
	}

	return nil
}

// none tells whether nothing may fail.
func (f Faults) none() bool {
	f.Turns = 0

	return f == Faults{}
}

const faultyTurns = 300

// Errors that are injected.
var (
	// ErrInjected is in the chain of every error that was injected.
	ErrInjected = errors.New("injected by controllertest")
	errEnded    = fmt.Errorf("%w: the process has ended", ErrInjected)
)

func injected(what string) error { return fmt.Errorf("%w: %s", ErrInjected, what) }

// disguises are what an injected error is taken for by those who look at the error to see whether they were told to stop:
// a call within the state may well have been cancelled, or have run out of its time.
var disguises = []error{nil, context.Canceled, context.DeadlineExceeded}

func disguised(what string, as int) error {
	if disguises[as] == nil {
		return injected(what)
	}

	return fmt.Errorf("%w: %s: %w", ErrInjected, what, disguises[as])
}

// conflict is an injected error that a state returns when somebody else was quicker.
type conflict struct {
	error

	resource resource.Pointer
}

func (conflict) ConflictError() {}

func (c conflict) GetResource() resource.Pointer { return c.resource }

func (c conflict) Unwrap() error { return c.error }

// stale is an injected error that a state returns for a bookmark that is too old.
type stale struct{ error }

func (stale) InvalidWatchBookmarkError() {}

func (s stale) Unwrap() error { return s.error }

// crashAt is a crash that a sweep has planned: after which write of the controllers, and whether it ends the process.
type crashAt struct {
	write   int
	process bool
}

// Ways for a crash to be drawn at a write.
const (
	noCrash = iota
	passBefore
	passAfter
	processBefore
	processAfter
)
