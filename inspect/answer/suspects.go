package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/adapter"
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// controller looks at what keeps a controller from its work, for a resource if one is given.
func (s *search) controller(name string, role role, about *api.Ref) *api.Obstacle {
	at := subject{controller: name, role: role}
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
		case s.disabled(c, about, o), s.unwatched(c, o):
		default:
			s.work(c, role, about, o)
		}
	})
}

// disabled tells whether a controller does nothing at all, and why.
func (s *search) disabled(c *runtime.ControllerHealth, about *api.Ref, o *api.Obstacle) bool {
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
	case s.stuck(c, about):
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

// stuck tells whether a pass of a controller does not come back, and others wait for it, or it is the one in question.
func (s *search) stuck(c *runtime.ControllerHealth, about *api.Ref) bool {
	if !c.Stuck || c.BusySince.IsZero() || s.cfg.Clock.Now().Sub(c.BusySince) < s.health.StuckAfter {
		return false // it may be called stuck because of what waits
	}

	return about == nil || !c.Queue || c.Ready > 0 || strings.Contains(c.Doing, "/"+about.ID+")")
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
		case !k.Open && c.Phase == adapter.Registered:
			o.Kind = api.ObstacleWatch
			o.Text = fmt.Sprintf("%s is not watched yet, since the state has not answered; %s was not started because of that", k.Kind, c.Name)
			o.Do = "look at the state, or the connection to it"
		default:
			continue
		}

		return true
	}

	if c.Phase == adapter.Registered {
		o.Kind, o.Text = api.ObstacleEnded, c.Name+" was not started yet"

		return true
	}

	return false
}

// work looks at what the passes of a controller have met.
func (s *search) work(c *runtime.ControllerHealth, role role, about *api.Ref, o *api.Obstacle) {
	passes := s.latest(c.Name, role, about)

	for _, p := range passes {
		if met := s.met(c, p, about); met != nil {
			o.Because = append(o.Because, met)
		}
	}

	if len(passes) == 0 && role == makes {
		o.Because = s.origins(c, *about)
	}

	switch len(o.Because) {
	case 0:
		s.idle(c, role, about, o)
	case 1:
		*o = *o.Because[0]
	default:
		o.Kind = api.ObstacleWaiting
		o.Text = fmt.Sprintf("%s does not get on with all that it has to do", c.Name)
	}
}

// idle looks at what else may keep a controller from its work, where its passes have met nothing.
func (s *search) idle(c *runtime.ControllerHealth, role role, about *api.Ref, o *api.Obstacle) {
	var waits, certain bool

	if about != nil && len(s.latest(c.Name, role, about)) == 0 {
		waits, certain = s.waitsInLine(c, *about)
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
	case waits && certain:
		o.Kind = api.ObstacleBacklog
		o.Text = fmt.Sprintf("%s has %s waiting, the oldest for %s", c.Name, plural(c.Ready, "item"), api.SecondsOf(c.OldestWait))
		o.Do = "wait, or give it more workers"
	case waits && len(s.path) > 2: // something is missing that would be made of it
		o.Kind = api.ObstacleBacklog
		o.Text = fmt.Sprintf("%s has %s waiting, the oldest for %s; %s may be among them", c.Name, plural(c.Ready, "item"), api.SecondsOf(c.OldestWait), about)
		o.Do = "wait, or give it more workers"
	}
}

// latest returns the last pass of a controller for each item; with a resource only for those that have to do with it.
func (s *search) latest(name string, role role, about *api.Ref) (latest []*cause.Pass) {
	all := s.book.Passes(name)
	last, concerned := map[round]*cause.Pass{}, map[round]bool{}

	var rounds []round

	for i := range all {
		p, r := &all[i], roundOf(&all[i])

		if last[r] == nil {
			last[r], rounds = p, append(rounds, r)
		}

		concerned[r] = concerned[r] || about == nil || s.concerns(p, last[r] == p, role, *about)
	}

	for _, r := range rounds {
		if concerned[r] {
			latest = append(latest, last[r])
		}
	}

	return latest
}

// concerns tells whether a pass has to do with a resource. Last is that it is the last one for its item.
func (s *search) concerns(p *cause.Pass, last bool, role role, ref api.Ref) bool {
	key := keyOf(ref)
	touches := func(a cause.Access) bool { return a.Resource == key }

	switch {
	case p.Doing == cause.Hooking:
		return false
	case p.Doing == cause.Mapping:
		return p.Item == key
	case p.Doing == cause.Waking:
		return role == makes || role == holds || role == reports
	case p.Item == key:
		return true
	case role == reads:
		return false // another item of it is no concern of this one
	case p.Item.ID == ref.ID && s.edges.writes(p.Controller, ref.Type) || slices.ContainsFunc(p.Writes, touches):
		return true
	}

	// Others may read it as well; who would make it under another id, or has yet to let go of it, is told by that.
	return last && (role == holds || role == makes && s.renames(p.Controller, ref)) && slices.ContainsFunc(p.Reads, touches)
}

// met looks at what a pass has met: that it has failed, or still runs, and what of what it has read is missing, in teardown, or not
// ready. It returns nil where there is nothing.
func (s *search) met(c *runtime.ControllerHealth, p *cause.Pass, about *api.Ref) *api.Obstacle {
	ref := passRef(p)
	o := &api.Obstacle{Controller: p.Controller, Pass: &ref, Because: s.troubles(p, about)}
	what := p.Controller

	if p.Item.ID != "" {
		item := refOf(p.Item)
		o.Resource = &item
		what += " for " + p.Item.String()
	}

	said := s.reported(p, about)

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
	case said != "":
		o.Kind, o.Text = api.ObstacleCondition, what+" waits, as "+said
	case len(o.Because) > 0:
		o.Kind = api.ObstacleWaiting
		o.Text = what + " waits for what it has met"
	case p.Outcome == cause.Requeued && len(p.Writes) == 0:
		o.Kind = api.ObstacleWaiting
		o.Text = fmt.Sprintf("%s has asked to be run again after %s, and does not say for what it waits", what, api.SecondsOf(p.Again))
	default:
		return nil
	}

	return o
}

// reported is what a controller says, in resources of its own that the pass has touched, of why it does not get on. What it says in
// the resource in question was said already.
func (s *search) reported(p *cause.Pass, about *api.Ref) string {
	for _, a := range slices.Concat(p.Writes, p.Reads) {
		ref := refOf(a.Resource)
		if a.Resource == p.Item || about != nil && ref == *about || !s.makesIt(p, &a) {
			continue
		}

		res, err := s.cfg.State.Get(s.ctx, a.Resource.Pointer())
		if err != nil || res.Metadata().Phase() == resource.PhaseTearingDown {
			continue
		}

		if broken := s.conditions(ref, res); len(broken) > 0 {
			return fmt.Sprintf("%s says: %s", ref, strings.Join(broken, "; "))
		}
	}

	return ""
}

// troubles are what is wrong with what a pass has read and torn down, as it is now.
func (s *search) troubles(p *cause.Pass, about *api.Ref) (all []*api.Obstacle) {
	done := map[api.Ref]bool{refOf(p.Item): true}
	if about != nil {
		done[*about] = true // it is looked at for it
	}

	for _, a := range slices.Concat(p.Writes, p.Reads) {
		ref := refOf(a.Resource)
		if done[ref] {
			continue
		}

		done[ref] = true

		// What it writes itself is no reason of its own, unless it waits for others to let go of it.
		own := s.makesIt(p, &a) || ref.ID == "" && s.edges.writes(p.Controller, ref.Type)

		switch {
		case ref.ID == "" && own && p.Doing == cause.Waking:
		case ref.ID == "":
			all = append(all, s.listed(ref, own, done)...)
		case own:
			if s.tearsDown(ref) {
				all = append(all, s.resource(ref))
			}
		case a.Version == 0 && s.optional(p.Controller, a.Resource.Kind):
		default:
			if o := s.resource(ref); matters(o) {
				all = append(all, o)
			}
		}
	}

	return all
}

// makesIt tells whether what a pass has touched is something that it makes itself for what it is for, rather than for another item.
func (s *search) makesIt(p *cause.Pass, a *cause.Access) bool {
	if !s.edges.writes(p.Controller, a.Resource.Type) || a.Resource.ID == "" {
		return false
	}

	return a.Verb != "" || p.Item.ID == "" || a.Resource.ID == p.Item.ID
}

// said is what a controller says, in resources of its own with the id of one that it holds, of how it gets on with that.
func (s *search) said(name string, ref api.Ref) (text string) {
	told := map[reduced.Key]bool{}

	for _, p := range s.book.Passes(name) {
		for _, w := range p.Writes {
			if w.Resource.ID != ref.ID || told[w.Resource] || !s.edges.writes(name, w.Resource.Type) {
				continue
			}

			told[w.Resource] = true

			if res, err := s.cfg.State.Get(s.ctx, w.Resource.Pointer()); err == nil && s.secret(s.ctx, res) == "" {
				if line := says(res); line != "" {
					text += fmt.Sprintf("; %s says: %s", w.Resource, line)
				}
			}
		}
	}

	return text
}

// optional tells whether a controller is known to do its work without a resource of a kind: a pass has missed one, and has
// succeeded and written something nevertheless.
func (s *search) optional(name string, kind reduced.Kind) bool {
	all := s.book.Passes(name)

	return slices.ContainsFunc(all, func(p cause.Pass) bool {
		return p.Outcome == cause.Succeeded && len(p.Writes) > 0 && slices.ContainsFunc(p.Reads, func(a cause.Access) bool {
			return a.Resource.Kind == kind && a.Resource.ID != "" && a.Version == 0
		})
	})
}

// matters tells whether something is in the way of who reads it. That nothing is wrong with it but that somebody waits is not.
func matters(o *api.Obstacle) bool { return o.Kind != api.ObstacleNone }

// listed are the resources of a kind that are in teardown or, unless only these are wanted, not ready, but for those that were looked
// at.
func (s *search) listed(kind api.Ref, teardowns bool, done map[api.Ref]bool) (all []*api.Obstacle) {
	for _, res := range s.list(kind) {
		md := res.Metadata()
		ref := api.Ref{Namespace: md.Namespace(), Type: md.Type(), ID: md.ID()}

		if done[ref] {
			continue
		}

		done[ref] = true

		if md.Phase() == resource.PhaseTearingDown || !teardowns && len(s.conditions(ref, res)) > 0 {
			all = append(all, s.resource(ref))
		}
	}

	return all
}

// list returns the first resources of a kind, as they are now.
func (s *search) list(kind api.Ref) []resource.Resource {
	if known, ok := s.lists[kind]; ok {
		return known
	}

	list, err := s.cfg.State.List(s.ctx, keyOf(kind).Pointer())

	switch {
	case err != nil:
		s.note = notes(s.note, fmt.Sprintf("%s in %s can not be listed: %s", kind.Type, kind.Namespace, oneLine(err.Error())))
	case len(list.Items) > mostListed:
		s.note = notes(s.note, fmt.Sprintf("of %d %s in %s the first %d were looked at", len(list.Items), kind.Type, kind.Namespace, mostListed))
		list.Items = list.Items[:mostListed]
	}

	s.lists[kind] = list.Items

	return list.Items
}

// tearsDown tells whether a resource is in teardown, and somebody has yet to let go of it.
func (s *search) tearsDown(ref api.Ref) bool {
	res, err := s.cfg.State.Get(s.ctx, keyOf(ref).Pointer())

	return err == nil && res.Metadata().Phase() == resource.PhaseTearingDown && len(*res.Metadata().Finalizers()) > 0
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
