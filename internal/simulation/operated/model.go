package operated

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

// total is what the config of a site comes to.
func total(v *site, all []*source) int {
	sum := 100 * v.TypedSpec().Pages

	for _, src := range all {
		if src.TypedSpec().For == v.Metadata().ID() {
			sum += src.TypedSpec().Value
		}
	}

	return sum
}

// outcome is a condition without its time and its text.
type outcome struct {
	status operator.ConditionStatus
	reason string
}

// wanted is what a site has to come to. What is nil may be anything.
type wanted struct {
	conditions map[string]outcome
	config     *int
	pages      []pageSpec
	data       *siteData
	record     bool
}

// model computes what a selected site comes to. Its place for the config may be taken by somebody else.
func model(v *site, all []*source, taken bool) wanted {
	spec := v.TypedSpec()
	sum := total(v, all)
	later := outcome{operator.Unknown, "DependencyNotReady"}
	first := func(reason string) wanted {
		failed := outcome{operator.False, reason}

		return wanted{conditions: map[string]outcome{configReady: failed, pagesReady: later, recordReady: later, operator.Ready: failed}}
	}

	switch {
	case spec.Mode == paused:
		return first("Paused")
	case spec.Mode == invalid:
		return first("InvalidError")
	case spec.Pages > 0 && taken:
		return first("Refused")
	}

	fine := outcome{operator.True, "Reconciled"}
	want := wanted{
		conditions: map[string]outcome{configReady: {operator.True, "Otherwise"}, pagesReady: fine, recordReady: fine, operator.Ready: fine},
		pages:      make([]pageSpec, spec.Pages),
	}

	for n := range want.pages {
		want.pages[n] = pageSpec{n, spec.Pages}
	}

	if spec.Pages == 0 {
		want.conditions[configReady] = outcome{operator.True, "Empty"}
	} else {
		want.config = &sum
		want.data = &siteData{sum, spec.Pages}
	}

	if spec.Mode == late {
		waits := outcome{operator.False, "Late"}
		want.conditions[pagesReady], want.conditions[recordReady], want.conditions[operator.Ready] = waits, later, waits
	} else {
		want.record = true
	}

	return want
}

// contents are what is there.
type contents struct {
	world    *controllertest.World
	sites    []*site
	sources  []*source
	statuses map[resource.ID]*siteStatus
	configs  map[resource.ID]*config
	pages    []*page
	records  map[resource.ID]string
}

func byID[R resource.Resource](all []R) map[resource.ID]R {
	found := map[resource.ID]R{}
	for _, res := range all {
		found[res.Metadata().ID()] = res
	}

	return found
}

func look(w *controllertest.World, r *registry) *contents {
	return &contents{
		world:    w,
		sites:    controllertest.List[*site](w, pointer(siteType, "")),
		sources:  controllertest.List[*source](w, pointer(sourceType, "")),
		statuses: byID(controllertest.List[*siteStatus](w, pointer(siteStatusType, ""))),
		configs:  byID(controllertest.List[*config](w, pointer(configType, ""))),
		pages:    controllertest.List[*page](w, pointer(pageType, "")),
		records:  r.all(),
	}
}

// check compares what is there, at rest and with nothing held, with the model.
func (c *contents) check() {
	lives := map[string]bool{}

	for _, v := range c.sites {
		md := v.Metadata()
		lives[operator.Incarnation(v)] = true

		label, _ := md.Labels().Get(tier)

		switch held := md.Finalizers().Has(finalizer); {
		case md.Phase() != resource.PhaseRunning:
			c.world.Errorf("%s is %s, held by %v, and should be gone", md, md.Phase(), *md.Finalizers())
		case label == "on":
			c.checkSelected(v)
		case held:
			c.checkLeft(v)
		default:
			c.checkUntouched(v)
		}
	}

	c.checkLives(lives)
}

// checkSelected checks a site that the operator works on.
func (c *contents) checkSelected(v *site) {
	md, id := v.Metadata(), v.Metadata().ID()
	have := c.configs[id]
	taken := have != nil && have.Metadata().Owner() != name
	want := model(v, c.sources, taken)

	if !md.Finalizers().Has(finalizer) {
		c.world.Errorf("%s has no finalizer", md)
	}

	c.checkStatus(v, want)

	if _, there := c.records[id]; want.record && !there {
		c.world.Errorf("%s has no record", md)
	}

	if want.pages == nil {
		return // it was left as it was
	}

	switch {
	case taken:
	case want.config == nil && have != nil:
		c.world.Errorf("%s has a config, and should have none", md)
	case want.config != nil && have == nil:
		c.world.Errorf("%s has no config", md)
	case want.config != nil && have.TypedSpec().Value != *want.config:
		c.world.Errorf("the config of %s is %d, and should be %d", md, have.TypedSpec().Value, *want.config)
	}

	pages := []pageSpec{}

	for _, p := range c.pages {
		if parent, _ := p.Metadata().Labels().Get(operator.ParentUIDLabel); parent == operator.Incarnation(v) {
			pages = append(pages, *p.TypedSpec())
		}
	}

	if !slices.Equal(pages, want.pages) {
		c.world.Errorf("the pages of %s are %v, and should be %v", md, pages, want.pages)
	}
}

func (c *contents) checkStatus(v *site, want wanted) {
	md := v.Metadata()

	status := c.statuses[md.ID()]
	if status == nil {
		c.world.Errorf("%s has no status", md)

		return
	}

	spec, generation := status.TypedSpec(), generation.Of(v)
	if spec.SubjectUID != operator.Incarnation(v) || spec.ObservedGeneration != generation {
		c.world.Errorf("the status of %s is of life %q and generation %d, which are %q and %d",
			md, spec.SubjectUID, spec.ObservedGeneration, operator.Incarnation(v), generation)
	}

	found := map[string]outcome{}

	for _, condition := range spec.Conditions {
		found[condition.Type] = outcome{condition.Status, condition.Reason}

		if condition.ObservedGeneration != generation {
			c.world.Errorf("condition %s of %s is of generation %d, which is %d", condition.Type, md, condition.ObservedGeneration, generation)
		}
	}

	if !maps.Equal(found, want.conditions) {
		c.world.Errorf("the conditions of %s are %v, and should be %v", md, found, want.conditions)
	}

	if want.data != nil && spec.Data != *want.data {
		c.world.Errorf("the status of %s says %v, and should say %v", md, spec.Data, *want.data)
	}
}

// checkLeft checks a site that was selected once and is not any more: what was made for it stays, and the status says so.
func (c *contents) checkLeft(v *site) {
	status := c.statuses[v.Metadata().ID()]
	if status == nil {
		return
	}

	ready, _ := status.TypedSpec().Conditions.Get(operator.Ready)
	if ready.Status != operator.Unknown || ready.Reason != "OutOfScope" || ready.ObservedGeneration != generation.Of(v) {
		c.world.Errorf("%s is not selected any more, and its status says %v", v.Metadata(), ready)
	}
}

// checkUntouched checks a site that was never selected.
func (c *contents) checkUntouched(v *site) {
	if id := v.Metadata().ID(); c.statuses[id] != nil || c.records[id] != "" {
		c.world.Errorf("%s was never selected, and has a status or a record", v.Metadata())
	}
}

// checkLives checks that nothing is left of lives that have ended.
func (c *contents) checkLives(lives map[string]bool) {
	of := map[string]string{}

	for _, status := range c.statuses {
		of[status.Metadata().String()] = status.TypedSpec().SubjectUID
	}

	for id, life := range c.records {
		of["the record of "+id] = life
	}

	for _, child := range c.configs {
		if child.Metadata().Owner() == name {
			of[child.Metadata().String()], _ = child.Metadata().Labels().Get(operator.ParentUIDLabel)
		}
	}

	for _, child := range c.pages {
		of[child.Metadata().String()], _ = child.Metadata().Labels().Get(operator.ParentUIDLabel)
	}

	for _, what := range slices.Sorted(maps.Keys(of)) {
		if !lives[of[what]] {
			c.world.Errorf("%s is left of a life that has ended: %q", what, of[what])
		}
	}
}

// String is how many there are of each, for failures.
func (c *contents) String() string {
	return fmt.Sprintf("%d sites, %d statuses, %d configs, %d pages, %d records",
		len(c.sites), len(c.statuses), len(c.configs), len(c.pages), len(c.records))
}
