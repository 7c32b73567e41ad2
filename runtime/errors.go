package runtime

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Refusals of the engine as a whole; ask for them with errors.Is. Refusals of a declaration are a
// dependency.DeclarationError, refusals of a call of a controller a stateadapter.RefusedError.
var (
	// ErrStopped is returned once Run has returned or was told to: build a new runtime.
	ErrStopped = errors.New("the runtime has stopped, build a new one")
	// ErrRunning is returned by Run while the runtime runs.
	ErrRunning = errors.New("the runtime is running already")
	// ErrNotRegistered is returned for the name of a controller that is not registered.
	ErrNotRegistered = errors.New("controller is not registered")
	// ErrUnregistersItself is returned when a controller unregisters itself from inside, which would wait for itself.
	ErrUnregistersItself = errors.New("a controller can not unregister itself: return nil from Run to finish, or have it unregistered from outside")
	// ErrUnregistering is returned when a controller is being unregistered.
	ErrUnregistering = errors.New("the controller is being unregistered")
	// ErrPausesItself is returned when a controller pauses itself from inside, which would wait for itself.
	ErrPausesItself = errors.New("a controller can not pause itself: have it paused from outside")
)

// ConfigError says which field of a [Config] is wrong and what is wrong with it.
type ConfigError struct {
	Field   string
	Problem string
}

// Error names the field.
func (e *ConfigError) Error() string { return fmt.Sprintf("runtime config: %s %s", e.Field, e.Problem) }

// StragglersError is returned by Run when not everything had ended after the grace at stop. What is named lives on.
type StragglersError struct {
	// Grace is how long was waited.
	Grace time.Duration
	// Controllers are the names of the controllers that still run, in order of registration, and Stragglers what keeps each of
	// them from ending.
	Controllers []string
	Stragglers  []Straggler
	// Watches are the kinds whose watch has not ended, because the state does not heed its context.
	Watches []string
}

// Straggler is a controller that has not ended with its context.
type Straggler struct {
	// Controller is the name of the controller.
	Controller string
	// Doing is what keeps it from ending: the Run of a classic controller, a pass or a hook of a queue controller. It is empty
	// where that has ended just now.
	Doing string
	// For is how long it has been doing that. Of a classic controller it is known only since when Run runs.
	For time.Duration
}

// String says who does what.
func (s Straggler) String() string {
	if s.Doing == "" {
		return s.Controller
	}

	return fmt.Sprintf("%s (%s for %s)", s.Controller, s.Doing, s.For)
}

// Error names what still runs.
func (e *StragglersError) Error() string {
	var still []string

	if len(e.Stragglers) > 0 {
		still = append(still, "controllers "+strings.Join(described(e.Stragglers), ", "))
	}

	if len(e.Watches) > 0 {
		still = append(still, "watches of "+strings.Join(e.Watches, ", "))
	}

	return fmt.Sprintf("still running %s after the end of their context, which they do not heed: %s", e.Grace, strings.Join(still, "; "))
}

func described(stragglers []Straggler) []string {
	texts := make([]string, len(stragglers))
	for i, s := range stragglers {
		texts[i] = s.String()
	}

	return texts
}
