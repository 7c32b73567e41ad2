package answer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/rivalry"
	"github.com/switchyard-run/switchyard/runtime"
)

// How far an answer goes: that many steps, that many obstacles, and that many resources of a kind that was listed.
const (
	deepestObstacle = 16
	mostObstacles   = 200
	mostListed      = 200
)

// BlockedResource tells what a resource waits for: in teardown, for whoever has yet to let go of it; otherwise for whatever keeps its
// conditions from holding, or its controllers from doing their work for it; if it is not there, for who would make it. The error
// is that of the state.
func (a *Answers) BlockedResource(ctx context.Context, ref api.Ref) (*api.Blocked, error) {
	s, err := a.search(ctx)
	if err != nil {
		return nil, err
	}

	return s.answer(&api.Blocked{Resource: &ref, Tree: s.resource(ref)}), s.err
}

// BlockedController tells what a controller waits for: what is wrong with it, and what its last passes have met. The error is a
// [*NotFoundError] if there is none of the name.
func (a *Answers) BlockedController(ctx context.Context, name string) (*api.Blocked, error) {
	s, err := a.search(ctx)
	if err != nil {
		return nil, err
	}

	if s.healthOf(name) == nil {
		return nil, unknownController(name, &s.health)
	}

	return s.answer(&api.Blocked{Controller: name, Tree: s.controller(name, alone, nil)}), s.err
}

// search is a question that is being answered.
type search struct {
	*Answers
	ctx    context.Context
	health runtime.Health
	edges  *edges
	book   *cause.Book

	// path is what the search has come by on its way, found what it has looked at, and obstacles how many.
	path  []subject
	found map[subject]*api.Obstacle
	// soft are circles of those that may wait for each other, and may not.
	soft      map[*api.Obstacle]bool
	obstacles int
	// lists are the kinds that were listed.
	lists map[api.Ref][]resource.Resource
	// note says what the answer does not take into account.
	note string
	// err is why that could not be read which was asked about.
	err error
}

// subject is what can be looked at: a resource, a controller, or a controller with regard to a resource.
type subject struct {
	controller string
	role       role
	resource   api.Ref
}

// role is what a controller has to do with a resource.
type role uint8

// What controllers have to do with resources.
const (
	// alone is that none is in question.
	alone role = iota
	// makes is that it would make the resource.
	makes
	// holds is that it has yet to let go of it, or to destroy it.
	holds
	// reports is that it has written the resource, which says that something is not as it should be.
	reports
	// serves is that it has written the resource, and all is well with that.
	serves
	// reads is that it works for the resource, and others make it.
	reads
)

func (s subject) String() string {
	switch {
	case s.controller == "":
		return s.resource.String()
	case s.resource == api.Ref{}:
		return s.controller
	default:
		return s.controller + " for " + s.resource.String()
	}
}

func (a *Answers) search(ctx context.Context) (*search, error) {
	edges, err := a.edges()
	if err != nil {
		return nil, err
	}

	return &search{
		Answers: a, ctx: ctx, health: a.cfg.Engine.Health(), edges: edges, book: a.books.now(),
		found: map[subject]*api.Obstacle{}, soft: map[*api.Obstacle]bool{}, lists: map[api.Ref][]resource.Resource{},
	}, nil
}

func (s *search) healthOf(name string) *runtime.ControllerHealth {
	for i := range s.health.Controllers {
		if s.health.Controllers[i].Name == name {
			return &s.health.Controllers[i]
		}
	}

	return nil
}

// look looks at a subject once, and finds circles.
func (s *search) look(at subject, look func(o *api.Obstacle)) *api.Obstacle {
	o := &api.Obstacle{Controller: at.controller}

	if at.resource != (api.Ref{}) {
		ref := at.resource
		o.Resource = &ref
	}

	if i := slices.Index(s.path, at); i >= 0 {
		o.Kind, o.Text = api.ObstacleCycle, s.circle(s.path[i:])

		if !s.certain(s.path[i:]) {
			o.Kind = api.ObstacleWaiting
			s.soft[o] = true
		}

		return o
	}

	if known, ok := s.found[at]; ok {
		return known
	}

	if len(s.path) == deepestObstacle || s.obstacles >= mostObstacles {
		o.Kind, o.Text = api.ObstacleCut, at.String()+" was not looked at: the answer is long enough"

		return o
	}

	s.obstacles++
	s.path = append(s.path, at)
	look(o)
	s.path = s.path[:len(s.path)-1]

	if o.Kind == "" {
		o.Kind, o.Text = api.ObstacleNone, at.String()+" waits for nothing, as far as can be told"
	}

	if !s.inCircle(o) {
		s.found[at] = o
	}

	return o
}

// inCircle tells whether what was found depends on where the search came from.
func (s *search) inCircle(o *api.Obstacle) bool {
	return o.Kind == api.ObstacleCycle || s.soft[o] || o.Kind == api.ObstacleCut || slices.ContainsFunc(o.Because, s.inCircle)
}

// certain tells whether those wait for each other that a circle leads by: whoever has yet to let go of a resource in teardown does.
// What is missing may not be needed.
func (s *search) certain(steps []subject) bool {
	return slices.ContainsFunc(steps, func(at subject) bool { return at.role == holds }) &&
		!slices.ContainsFunc(steps, func(at subject) bool { return at.role != holds && at.controller != "" })
}

func (s *search) circle(steps []subject) string {
	names := make([]string, 0, len(steps)+1)
	for _, step := range steps {
		names = append(names, step.String())
	}

	return "they wait for each other: " + strings.Join(append(names, names[0]), " → ")
}

// resource looks at a resource.
func (s *search) resource(ref api.Ref) *api.Obstacle {
	return s.look(subject{resource: ref}, func(o *api.Obstacle) {
		res, err := s.cfg.State.Get(s.ctx, keyOf(ref).Pointer())

		switch {
		case state.IsNotFoundError(err):
			s.missing(ref, o)
		case err != nil:
			s.unreadable(ref, err, o)
		case res.Metadata().Phase() == resource.PhaseTearingDown:
			s.teardown(ref, res.Metadata(), o)
		default:
			s.running(ref, res, o)
		}
	})
}

// unreadable is a resource that the state does not give.
func (s *search) unreadable(ref api.Ref, err error, o *api.Obstacle) {
	o.Kind = api.ObstacleFailure
	o.Text = fmt.Sprintf("%s can not be read: %s", ref, oneLine(err.Error()))
	o.Do = "look at the state, or the connection to it"

	if len(s.path) == 1 {
		s.err = fmt.Errorf("%s can not be read: %w", ref, err)
	}
}

// teardown looks at who has yet to let go of a resource.
func (s *search) teardown(ref api.Ref, md *resource.Metadata, o *api.Obstacle) {
	names := *md.Finalizers()

	if len(names) == 0 {
		s.undestroyed(ref, md, o)

		return
	}

	o.Kind = api.ObstacleTeardown
	o.Text = fmt.Sprintf("%s is in teardown, and waits for %s to be removed: %s", ref, plural(len(names), "finalizer"), strings.Join(names, ", "))

	for _, name := range names {
		o.Because = append(o.Because, s.finalizer(name, ref))
	}
}

func (s *search) finalizer(name resource.Finalizer, ref api.Ref) *api.Obstacle {
	if s.healthOf(name) == nil {
		return &api.Obstacle{
			Kind: api.ObstacleOrphan, Resource: &ref, Controller: name,
			Text: fmt.Sprintf("the finalizer %q on %s is orphaned: no controller of that name is registered", name, ref),
			Do:   "register the controller, or if it is gone for good, remove the finalizer",
		}
	}

	holder := s.controller(name, holds, &ref)

	// It has been told, and keeps its finalizer all the same.
	switch {
	case holder.Kind == api.ObstacleNone:
		return &api.Obstacle{
			Kind: api.ObstacleWaiting, Resource: &ref, Controller: name, Pass: holder.Pass,
			Text: fmt.Sprintf("%s keeps its finalizer on %s, and nothing is known that would keep it from letting go%s", name, ref, s.said(name, ref)),
			Do:   "look at its last passes",
		}
	case holder.Kind == api.ObstacleWaiting && len(holder.Because) == 0:
		return &api.Obstacle{
			Kind: api.ObstacleWaiting, Resource: &ref, Controller: name, Pass: holder.Pass, Because: holder.Because,
			Text: fmt.Sprintf("%s keeps its finalizer on %s: %s%s", name, ref, holder.Text, s.said(name, ref)),
			Do:   "look at its last passes",
		}
	}

	return holder
}

func (s *search) undestroyed(ref api.Ref, md *resource.Metadata, o *api.Obstacle) {
	o.Kind = api.ObstacleUndestroyed

	if owner := md.Owner(); owner != "" {
		o.Text = fmt.Sprintf("%s is in teardown, and all have let go of it; its owner %s has yet to destroy it", ref, owner)

		if s.healthOf(owner) == nil {
			o.Because = append(o.Because, &api.Obstacle{
				Kind: api.ObstacleOrphan, Resource: &ref, Controller: owner,
				Text: fmt.Sprintf("%s belongs to %s, which is not registered", ref, owner),
				Do:   "register the controller, or destroy the resource in its name",
			})
		} else if because := s.controller(owner, holds, &ref); because.Kind != api.ObstacleNone {
			o.Because = append(o.Because, because)
		}

		return
	}

	o.Text = fmt.Sprintf("%s is in teardown, and all have let go of it; it belongs to no controller, so who has made it has to destroy it", ref)
	o.Do = "destroy it"
}

// running looks at what keeps the conditions of a resource from holding, and its controllers from their work for it.
func (s *search) running(ref api.Ref, res resource.Resource, o *api.Obstacle) {
	broken := s.conditions(ref, res)
	o.Because = append(o.Because, s.rivalries(ref)...)

	for _, c := range s.concerned(ref, res, len(broken) > 0) {
		because := s.controller(c.controller, c.role, &ref)

		// What is there is there for who reads it, although its controller may wait to do more.
		asked := len(s.path) == 1 || len(broken) > 0
		if because.Kind != api.ObstacleNone && (asked || !weak(because.Kind) && because.Kind != api.ObstacleCondition) {
			o.Because = append(o.Because, because)
		}
	}

	switch {
	case len(broken) > 0:
		o.Kind = api.ObstacleCondition
		o.Text = fmt.Sprintf("%s says: %s", ref, strings.Join(broken, "; "))
	case len(o.Because) > 0:
		o.Kind = api.ObstacleWaiting
		o.Text = fmt.Sprintf("%s is there, but not all is well with what its controllers do for it", ref)
	}
}

// concerned are the controllers that have to do with a resource that is there, in order of name: who has written it and, if it was
// asked about, those that work for it.
func (s *search) concerned(ref api.Ref, res resource.Resource, broken bool) (all []subject) {
	roles := map[string]role{}

	if len(s.path) == 1 {
		for _, r := range s.edges.readers[ref.Type] {
			if r.input.Namespace == ref.Namespace && (r.input.ID == "" || r.input.ID == ref.ID) {
				roles[r.controller] = reads
			}
		}
	}

	writes := serves
	if broken {
		writes = reports
	}

	for _, p := range s.book.WrittenBy(keyOf(ref).Pointer()) {
		if s.edges.writes(p.Controller, ref.Type) { // others have put finalizers on it
			roles[p.Controller] = writes
		}
	}

	if owner := res.Metadata().Owner(); owner != "" {
		roles[owner] = writes
	}

	for _, name := range slices.Sorted(maps.Keys(roles)) {
		if s.healthOf(name) != nil {
			all = append(all, subject{controller: name, role: roles[name]})
		}
	}

	return all
}

func (s *search) rivalries(ref api.Ref) (all []*api.Obstacle) {
	for i := range s.health.Rivalries {
		if r := &s.health.Rivalries[i]; refOf(r.Resource) == ref {
			all = append(all, &api.Obstacle{
				Kind: api.ObstacleRivalry, Resource: &ref,
				Text: rivalText(r),
				Do:   "let one of them alone write these fields",
			})
		}
	}

	return all
}

func rivalText(r *rivalry.Rivalry) string {
	return fmt.Sprintf("%s undo each other on %s: %s", strings.Join(r.Controllers, ", "), r.Resource, strings.Join(r.Fields, ", "))
}

// answer completes an answer with its roots.
func (s *search) answer(b *api.Blocked) *api.Blocked {
	b.Roots = rootsOf(b.Tree)
	b.Waits = b.Tree.Kind != api.ObstacleNone

	// What is found without passes needs none.
	certain := len(b.Roots) > 0 && !weak(b.Roots[0].Kind)
	if b.Note = s.note; !certain && remembered(s.book) == 0 {
		b.Note = notes(b.Note, noteOfNone(0))
	}

	return b
}

// alarm is how telling the kinds of obstacles are, where they are roots. Those from missing on are weak: what is missing may not
// be needed, and of what merely waits nobody has said why.
var alarm = []api.ObstacleKind{
	api.ObstacleEngine, api.ObstacleCycle, api.ObstacleOrphan, api.ObstacleStuck, api.ObstaclePaused, api.ObstacleEnded, api.ObstacleWatch,
	api.ObstacleFailure, api.ObstacleRivalry, api.ObstacleCondition, api.ObstacleUndestroyed, api.ObstacleDamped, api.ObstacleBacklog,
	api.ObstacleMissing, api.ObstacleWaiting, api.ObstacleTeardown, api.ObstacleCut, api.ObstacleNone,
}

func rank(kind api.ObstacleKind) int { return slices.Index(alarm, kind) }

func weak(kind api.ObstacleKind) bool { return rank(kind) >= rank(api.ObstacleMissing) }

// rootsOf finds the roots of an answer, the most telling first.
func rootsOf(tree *api.Obstacle) []api.BlockedRoot {
	g := &gatherer{known: map[string]bool{}}
	strong := g.gather(tree)

	for i := range g.roots {
		g.roots[i].Perhaps = strong && weak(g.roots[i].Kind)
	}

	slices.SortStableFunc(g.roots, func(a, b api.BlockedRoot) int { return rank(a.Kind) - rank(b.Kind) })

	return append([]api.BlockedRoot{}, g.roots[:min(len(g.roots), mostRoots)]...)
}

// gatherer gathers the roots of an answer.
type gatherer struct {
	roots []api.BlockedRoot
	known map[string]bool
}

// gather gathers the roots of an obstacle, and tells whether a strong one is among them. What is waited for in the end is a root; so
// is what has failed, whatever it has met, and what says why it waits, unless something is found that is the reason for that.
func (g *gatherer) gather(o *api.Obstacle) (strong bool) {
	for _, because := range o.Because {
		if g.gather(because) {
			strong = true
		}
	}

	if o.Kind == api.ObstacleNone {
		return false
	}

	tells := o.Kind == api.ObstacleFailure || o.Kind == api.ObstacleCondition && !strong
	if (tells || len(o.Because) == 0) && !g.known[o.Text] {
		g.known[o.Text] = true
		g.roots = append(g.roots, api.BlockedRoot{Kind: o.Kind, Text: o.Text, Do: o.Do, Resource: o.Resource, Controller: o.Controller})
	}

	return strong || !weak(o.Kind) && (tells || len(o.Because) == 0)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return fmt.Sprintf("%d %ss", n, noun)
}
