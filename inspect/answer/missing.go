package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// missing looks at who would make a resource that is not there.
func (s *search) missing(ref api.Ref, o *api.Obstacle) {
	o.Kind = api.ObstacleMissing
	writers := s.edges.writers[ref.Type]

	if len(writers) == 0 {
		o.Text = fmt.Sprintf("%s does not exist, and no controller writes %s", ref, ref.Type)
		o.Do = "it has to be made from outside, or by a controller that is not registered"

		return
	}

	o.Text = fmt.Sprintf("%s does not exist; it would be written by %s", ref, strings.Join(writers, ", "))

	for _, name := range writers {
		if because := s.controller(name, makes, &ref); because.Kind != api.ObstacleNone {
			o.Because = append(o.Because, because)
		}
	}

	if len(o.Because) == 0 {
		o.Do = "nothing keeps them from making it: what they make it of may be missing, or their last passes are forgotten"
	}
}

// origins looks at what a controller would make a resource of, where none of its passes has had to do with it. For a queue
// controller that is what has the same id, as mostly is the case; for a classic one, all that it reads.
func (s *search) origins(c *runtime.ControllerHealth, ref api.Ref) (all []*api.Obstacle) {
	if c.Queue && s.renames(c.Name, ref) {
		return nil
	}

	for _, in := range s.edges.inputs[c.Name] {
		origin := in.Ref

		switch {
		case in.Type == ref.Type: // its own, to see them go
			continue
		case c.Queue && in.Kind != "q-primary":
			continue
		case c.Queue && in.ID == "":
			origin.ID = ref.ID
		case c.Queue && in.ID != ref.ID:
			continue
		case in.ID == "":
			if none := s.none(in.Ref, c.Name); none != nil {
				all = append(all, none)
			}

			continue
		}

		all = append(all, s.origin(c, origin)...)
	}

	return all
}

// origin looks at one resource of which a controller would make another one: whether it is there and, if so, what keeps the
// controller from looking at it.
func (s *search) origin(c *runtime.ControllerHealth, ref api.Ref) (all []*api.Obstacle) {
	_, err := s.cfg.State.Get(s.ctx, keyOf(ref).Pointer())

	switch {
	case state.IsNotFoundError(err):
		if len(s.edges.writers[ref.Type]) > 0 || c.Queue {
			all = append(all, s.resource(ref))
		}
	case err == nil && c.Queue:
		if o := s.controller(c.Name, reads, &ref); o.Kind != api.ObstacleNone {
			all = append(all, o)
		}
	}

	return all
}

// none is that there is nothing at all of a kind that a controller reads, and nobody who would make it.
func (s *search) none(kind api.Ref, reader string) *api.Obstacle {
	if len(s.list(kind)) > 0 || len(s.edges.writers[kind.Type]) > 0 {
		return nil
	}

	return &api.Obstacle{
		Kind: api.ObstacleMissing, Resource: &kind,
		Text: fmt.Sprintf("there are no %s in %s, which %s reads, and no controller writes them", kind.Type, kind.Namespace, reader),
		Do:   "they have to be made from outside, or by a controller that is not registered",
	}
}

// renames tells whether a controller is known to make what it makes of something with another id, and never of the same.
func (s *search) renames(name string, ref api.Ref) bool {
	renames := false

	for _, p := range s.book.Passes(name) {
		for i := range p.Writes {
			switch w := &p.Writes[i]; {
			case w.Resource.Type != ref.Type || p.Doing != cause.Reconciling:
			case w.Resource.ID == p.Item.ID:
				return false
			default:
				renames = true
			}
		}
	}

	return renames
}

// waitsInLine tells whether a resource is, or may be, among the items that wait for a worker: certain is that it is.
func (s *search) waitsInLine(c *runtime.ControllerHealth, ref api.Ref) (waits, certain bool) {
	primary := slices.ContainsFunc(s.edges.inputs[c.Name], func(in api.Input) bool {
		return in.Kind == "q-primary" && in.Namespace == ref.Namespace && in.Type == ref.Type && (in.ID == "" || in.ID == ref.ID)
	})

	if !primary || !c.Queue || c.Ready == 0 {
		return false, false
	}

	if s.book.Complete(c.Name) {
		return true, true // it was not looked at yet
	}

	res, err := s.cfg.State.Get(s.ctx, keyOf(ref).Pointer())
	if err != nil {
		return false, false
	}

	return true, s.cfg.Clock.Now().Sub(res.Metadata().Updated()) <= c.OldestWait
}
