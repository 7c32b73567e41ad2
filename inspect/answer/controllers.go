package answer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

func controllerOf(c *runtime.ControllerHealth) api.Controller {
	return api.Controller{
		Name: c.Name, Queue: c.Queue, State: StateOf(c), Since: c.Since, Passes: c.Passes,
		Ready: c.Ready, Delayed: c.Delayed, Processing: c.Processing, Failing: c.Failing, Damped: c.Damped,
		OldestWait: api.SecondsOf(c.OldestWait), Problem: c.Problem(),
	}
}

// StateOf returns what a controller is doing, in one word.
func StateOf(c *runtime.ControllerHealth) api.State {
	switch {
	case c.Phase == adapter.Stopped:
		return api.Stopped
	case c.Phase == adapter.Finished:
		return api.Finished
	case c.Stuck:
		return api.Stuck
	case c.Fails():
		return api.BackingOff
	case c.Paused:
		return api.Paused
	case c.Phase == adapter.Registered:
		return api.Registered
	case !c.BusySince.IsZero() || c.Ready > 0 || c.Processing > 0:
		return api.Running
	default:
		return api.Waiting
	}
}

// Controller returns all there is to say about a controller. The error is a [*NotFoundError] if there is none of the name.
func (a *Answers) Controller(name string) (*api.ControllerDetail, error) {
	h, err := a.health(name)
	if err != nil {
		return nil, err
	}

	edges, err := a.edges()
	if err != nil {
		return nil, err
	}

	passes, err := a.passes(name)
	if err != nil {
		return nil, err
	}

	d := &api.ControllerDetail{
		Controller: controllerOf(h), Inputs: append([]api.Input{}, edges.inputs[name]...), Outputs: append([]api.Output{}, edges.outputs[name]...),
		LastError: errorText(h.LastError), Attempt: h.Attempt, NextTry: when(h.NextTry), BusySince: when(h.BusySince), Doing: h.Doing,
		PausedSince: when(h.PausedSince), DampedItem: h.DampedItem, Causes: countCauses(passes), LastPasses: a.passesOf(passes),
	}

	return d, nil
}

// health returns the health of one controller.
func (a *Answers) health(name string) (*runtime.ControllerHealth, error) {
	h := a.cfg.Engine.Health()

	for i := range h.Controllers {
		if h.Controllers[i].Name == name {
			return &h.Controllers[i], nil
		}
	}

	return nil, unknownController(name, &h)
}

func unknownController(name string, h *runtime.Health) *NotFoundError {
	err := &NotFoundError{What: "controller", Name: name, Do: "ask for the controllers to see their names"}
	lower := strings.ToLower(name)

	for i := range h.Controllers {
		if known := h.Controllers[i].Name; lower != "" && strings.Contains(strings.ToLower(known), lower) && len(err.Similar) < 5 {
			err.Similar = append(err.Similar, known)
		}
	}

	return err
}

// countCauses counts why passes were made.
func countCauses(passes []cause.Pass) []api.CauseCount {
	counts := map[string]int{}

	for i := range passes {
		p := &passes[i]

		for j := range p.Causes {
			c := &p.Causes[j]
			text := c.Resource.String()

			if c.Changed != 0 {
				text += ": " + c.Changed.String()
			}

			counts[text]++
		}

		if p.Reasons != 0 {
			counts[p.Reasons.String()]++
		}
	}

	all := make([]api.CauseCount, 0, len(counts))
	for text, n := range counts {
		all = append(all, api.CauseCount{Text: text, Passes: n})
	}

	slices.SortFunc(all, func(a, b api.CauseCount) int {
		return cmp.Or(cmp.Compare(b.Passes, a.Passes), cmp.Compare(a.Text, b.Text))
	})

	return all
}

// when returns a time, or nil if it is zero.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}

	return &t
}
