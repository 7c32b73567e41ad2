package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// controller looks at what keeps a controller from its work, for a resource if one is given.
func (s *search) controller(name string, about *api.Ref) *api.Obstacle {
	at := subject{controller: name}
	if about != nil {
		at.resource = *about
	}

	return s.look(at, func(o *api.Obstacle) {
		c := s.healthOf(name)

		switch {
		case c == nil:
			o.Kind = api.ObstacleOrphan
			o.Text = fmt.Sprintf("%s is not registered", name)
			o.Do = "register it"
		case s.disabled(c, o), s.unwatched(c, o):
		default:
			s.work(c, about, o)
		}
	})
}

// disabled tells whether a controller does nothing at all, and why.
func (s *search) disabled(c *runtime.ControllerHealth, o *api.Obstacle) bool {
	switch {
	case !s.health.Running:
		o.Kind, o.Text = api.ObstacleEngine, "the engine does not run"
		o.Do = "look at why the host has stopped it, or has not started it"
	case c.Phase == adapter.Finished:
		o.Kind, o.Text = api.ObstacleEnded, fmt.Sprintf("%s has finished: its Run has returned without an error, and is not called again", c.Name)
		o.Do = "register it anew, or have its Run go on until its context ends"
	case c.Phase == adapter.Stopped:
		o.Kind, o.Text = api.ObstacleEnded, c.Name+" was stopped"
		o.Do = "register it anew"
	case c.Stuck && !c.BusySince.IsZero():
		o.Kind = api.ObstacleStuck
		o.Text = fmt.Sprintf("%s is stuck: %s has not come back for %s", c.Name, cmp.Or(c.Doing, "its pass"), s.since(c))
		o.Do = "the log says where it stands; give passes a deadline (PassDeadline of the config)"
	case c.Paused:
		o.Kind = api.ObstaclePaused
		o.Text = fmt.Sprintf("%s is paused since %s", c.Name, c.PausedSince.UTC().Format("15:04:05"))
		o.Do = "resume it"
	case c.Phase == adapter.BackingOff && !c.Queue:
		o.Kind = api.ObstacleFailure
		o.Text = fmt.Sprintf("%s fails, and is tried again (failure %d): %s", c.Name, c.Attempt, oneLine(errorText(c.LastError)))
		o.Do = "mend what the error says"
	default:
		return false
	}

	return true
}

func (s *search) since(c *runtime.ControllerHealth) string {
	return api.SecondsOf(s.cfg.Clock.Now().Sub(c.BusySince)).String()
}

// unwatched tells whether a kind that the controller needs is not watched, or has not come.
func (s *search) unwatched(c *runtime.ControllerHealth, o *api.Obstacle) bool {
	for i := range s.health.Kinds {
		k := &s.health.Kinds[i]

		reads := slices.ContainsFunc(s.edges.inputs[c.Name], func(in api.Input) bool { return in.Namespace == k.Namespace && in.Type == k.Type })
		if !reads {
			continue
		}

		switch {
		case k.Err != nil:
			o.Kind = api.ObstacleWatch
			o.Text = fmt.Sprintf("%s can not be watched, which %s needs: %s (try %d)", k.Kind, c.Name, oneLine(k.Err.Error()), k.Attempt)
			o.Do = "look at the state, or the connection to it"
		case !k.Synced && slices.Contains(k.Waiting, c.Name):
			o.Kind = api.ObstacleWatch
			o.Text = fmt.Sprintf("the contents of %s have not come, for which %s waits", k.Kind, c.Name)
			o.Do = "look at the state, or the connection to it"
		default:
			continue
		}

		return true
	}

	return false
}

// work looks at what the passes of a controller have met.
func (s *search) work(c *runtime.ControllerHealth, about *api.Ref, o *api.Obstacle) {
	passes := s.latest(c.Name, about)

	for _, p := range passes {
		if met := s.met(c, p); met != nil {
			o.Because = append(o.Because, met)
		}
	}

	switch len(o.Because) {
	case 0:
	case 1:
		*o = *o.Because[0]

		return
	default:
		o.Kind = api.ObstacleWaiting
		o.Text = fmt.Sprintf("%s does not get on with all that it has to do", c.Name)

		return
	}

	switch {
	case c.Phase == adapter.BackingOff && about == nil: // a queue controller, whose items go on
		o.Kind = api.ObstacleFailure
		o.Text = fmt.Sprintf("the run hook of %s fails, and is tried again (failure %d): %s", c.Name, c.Attempt, oneLine(errorText(c.LastError)))
		o.Do = "mend what the error says"
	case c.Damped > 0 && (about == nil || strings.Contains(c.DampedItem, about.String())):
		o.Kind = api.ObstacleDamped
		o.Text = fmt.Sprintf("%s keeps waking itself by what it writes, most of all for %s, and is slowed down", c.Name, c.DampedItem)
		o.Do = "have it write only what has changed"
	case len(passes) == 0 && about != nil && c.Queue && c.Ready > 0 && s.isItem(c.Name, *about):
		o.Kind = api.ObstacleBacklog
		o.Text = fmt.Sprintf("%s has %s waiting, the oldest for %s", c.Name, plural(c.Ready, "item"), api.SecondsOf(c.OldestWait))
		o.Do = "wait, or give it more workers"
	}
}

func (s *search) isItem(name string, ref api.Ref) bool {
	return slices.ContainsFunc(s.edges.inputs[name], func(in api.Input) bool {
		return in.Kind == "q-primary" && in.Namespace == ref.Namespace && in.Type == ref.Type && (in.ID == "" || in.ID == ref.ID)
	})
}

// latest returns the last pass of a controller for each item; with a resource only those that have to do with it: for it, for one
// of its id where the controller would make it, or that have touched it.
func (s *search) latest(name string, about *api.Ref) (latest []*cause.Pass) {
	known := map[round]bool{}
	all := s.book.Passes(name)

	for i := range all {
		p := &all[i]
		if known[roundOf(p)] {
			continue
		}

		known[roundOf(p)] = true

		if about == nil || s.concerns(p, *about) {
			latest = append(latest, p)
		}
	}

	return latest
}

func (s *search) concerns(p *cause.Pass, ref api.Ref) bool {
	key := keyOf(ref)

	switch {
	case p.Doing == cause.Mapping:
		return p.Item == key
	case p.Doing == cause.Hooking:
		return false
	case p.Doing == cause.Waking || p.Item == key:
		return true
	case p.Item.ID == ref.ID && s.edges.writes(p.Controller, ref.Type):
		return true
	}

	touches := func(a cause.Access) bool { return a.Resource == key }

	return slices.ContainsFunc(p.Writes, touches) || slices.ContainsFunc(p.Reads, touches)
}

// met looks at what a pass has met: that it has failed, or still runs, and what of what it has read is missing, in teardown, or not
// ready. It returns nil where there is nothing.
func (s *search) met(c *runtime.ControllerHealth, p *cause.Pass) *api.Obstacle {
	ref := passRef(p)
	o := &api.Obstacle{Controller: p.Controller, Pass: &ref, Because: s.troubles(p)}
	what := p.Controller

	if p.Item.ID != "" {
		item := refOf(p.Item)
		o.Resource = &item
		what += " for " + p.Item.String()
	}

	switch {
	case p.Outcome == cause.Failed:
		o.Kind = api.ObstacleFailure
		o.Text = fmt.Sprintf("%s fails: %s", what, oneLine(p.Failure))
		o.Do = "mend what the error says"

		if p.Again > 0 {
			o.Text += fmt.Sprintf("; it is tried again after %s", api.SecondsOf(p.Again))
		}

		if c.Failing > 1 {
			o.Text += fmt.Sprintf(" (%d items of it fail)", c.Failing)
		}
	case len(o.Because) > 0:
		o.Kind = api.ObstacleWaiting
		o.Text = what + " waits for what it has met"
	case p.Outcome == cause.Requeued:
		o.Kind = api.ObstacleWaiting
		o.Text = fmt.Sprintf("%s has asked to be run again after %s, and does not say for what it waits", what, api.SecondsOf(p.Again))
	default:
		return nil
	}

	return o
}

// troubles are what is wrong with what a pass has read and torn down, as it is now.
func (s *search) troubles(p *cause.Pass) (all []*api.Obstacle) {
	done := map[api.Ref]bool{refOf(p.Item): true}

	for i := range p.Writes {
		w := &p.Writes[i]
		ref := refOf(w.Resource)

		// What it has written itself is no reason of its own, unless it waits for others to let go of it.
		if !done[ref] && w.Verb != "" && s.tearsDown(ref) {
			all = append(all, s.resource(ref))
		}

		done[ref] = true
	}

	for i := range p.Reads {
		r := &p.Reads[i]
		ref := refOf(r.Resource)

		if ref.ID == "" {
			all = append(all, s.listed(ref)...)

			continue
		}

		if done[ref] {
			continue
		}

		done[ref] = true

		if r.Version == 0 && s.edges.writes(p.Controller, ref.Type) {
			continue // it would make it itself
		}

		if o := s.resource(ref); matters(o) {
			all = append(all, o)
		}
	}

	return all
}

// matters tells whether something is in the way of who reads it. That nothing is wrong with it but that somebody waits is not.
func matters(o *api.Obstacle) bool { return o.Kind != api.ObstacleNone }

// listed are the resources of a kind that are in teardown, or not ready.
func (s *search) listed(ref api.Ref) (all []*api.Obstacle) {
	list, err := s.cfg.State.List(s.ctx, keyOf(ref).Pointer())
	if err != nil {
		return nil
	}

	for i, res := range list.Items {
		if i == mostListed {
			break
		}

		md := res.Metadata()
		one := api.Ref{Namespace: md.Namespace(), Type: md.Type(), ID: md.ID()}

		if md.Phase() == resource.PhaseTearingDown || len(s.conditions(one, res)) > 0 {
			all = append(all, s.resource(one))
		}
	}

	return all
}

// tearsDown tells whether a resource is in teardown, and somebody has yet to let go of it.
func (s *search) tearsDown(ref api.Ref) bool {
	res, err := s.cfg.State.Get(s.ctx, keyOf(ref).Pointer())
	if err != nil {
		if !state.IsNotFoundError(err) {
			s.err = fmt.Errorf("%s can not be read: %w", ref, err)
		}

		return false
	}

	return res.Metadata().Phase() == resource.PhaseTearingDown && len(*res.Metadata().Finalizers()) > 0
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
