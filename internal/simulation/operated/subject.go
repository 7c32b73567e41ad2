package operated

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/operator"
)

const (
	name      = "sites"
	finalizer = resource.Finalizer("operated/registry")
	// tier is the label by which sites are selected.
	tier = "tier"

	configReady = "ConfigReady"
	pagesReady  = "PagesReady"
	recordReady = "RecordReady"
)

// secret is in the text of all errors, and may not stand in any resource.
const secret = "hunter2"

// InvalidError says that a site can not be.
type InvalidError struct{}

// Error has something in it that is not for everybody.
func (*InvalidError) Error() string { return "invalid, as the password is " + secret }

// subject is the operator of a world, and what it was drawn to be.
type subject struct {
	*stumbler

	registry *registry

	workers                                int
	statusUpdates, events, every, byCaches bool
}

// register registers a new one with an engine, as a new process does.
func (s *subject) register(e controller.Engine) error { return operator.Register(e, s.define()) }

func (s *subject) define() operator.Definition {
	c := operator.For[*site](name).Workers(s.workers).Timeout(10 * time.Second).Select(resource.LabelEqual(tier, "on"))

	status := operator.Status[siteData, statusKind](c)
	operator.Owns[*config](c)
	operator.Owns[*page](c)
	operator.Watch(c, func(src *source) []resource.ID {
		s.stumbleMapping()

		if src.TypedSpec().For == "" {
			return nil
		}

		return []resource.ID{src.TypedSpec().For}
	})

	if s.statusUpdates {
		c.StatusUpdates()
	}

	if !s.events {
		c.WithoutEvents()
	}

	if s.every {
		c.Every(45 * time.Second)
	}

	configure := c.Scope("config", configReady)
	whenPaused := configure.Case("Paused", func(v *site) bool { return v.TypedSpec().Mode == paused },
		func(context.Context, *site, *operator.StageContext) error { return operator.Wait("Paused") })
	whenInvalid := configure.Case("Invalid", func(v *site) bool { return v.TypedSpec().Mode == invalid },
		func(context.Context, *site, *operator.StageContext) error { return operator.Terminal(&InvalidError{}) }, whenPaused)

	configure.Case("Empty", func(v *site) bool { return v.TypedSpec().Pages == 0 },
		func(ctx context.Context, v *site, c *operator.StageContext) error {
			return s.working(ctx, "empty", v, func() error { return operator.Prune[*config](ctx, c) })
		}, whenInvalid)

	configure.Otherwise(func(ctx context.Context, v *site, c *operator.StageContext) error {
		return s.working(ctx, "config", v, func() error { return s.ensureConfig(ctx, v, c, status) })
	})

	pages := c.Stage(pagesReady, func(ctx context.Context, v *site, c *operator.StageContext) error {
		return s.working(ctx, "pages", v, func() error { return s.ensurePages(ctx, v, c, status) })
	}, configure)

	c.Stage(recordReady, func(ctx context.Context, v *site, _ *operator.StageContext) error {
		return s.working(ctx, "record", v, func() error { return s.registry.put(v.Metadata().ID(), operator.Incarnation(v)) })
	}, pages)

	c.Finalize(finalizer, s.finalize)

	return c
}

// working calls a part of a pass, with what may go wrong around it.
func (s *subject) working(ctx context.Context, what string, v *site, do func() error) error {
	md := v.Metadata()
	if md.Phase() != resource.PhaseRunning || !md.Finalizers().Has(finalizer) {
		s.world.Errorf("the handler %q is called for %s, which is %s and held by %v", what, md, md.Phase(), *md.Finalizers())
	}

	if err := s.stumble(ctx, what+" of "+md.ID()); err != nil {
		return err
	}

	if err := do(); err != nil {
		return err
	}

	return s.stumbleLate(what + " of " + md.ID())
}

func (s *subject) ensureConfig(ctx context.Context, v *site, c *operator.StageContext, status *operator.StatusOf[siteData]) error {
	read := operator.List[*source]
	if s.byCaches {
		read = operator.CachedList[*source]
	}

	all, err := read(ctx, c)
	if err != nil {
		return err
	}

	total := total(v, all)

	status.Set(c, func(d *siteData) { d.Total = total })

	return operator.Ensure(ctx, c, &config{}, func(have *config) { have.TypedSpec().Value = total })
}

func (s *subject) ensurePages(ctx context.Context, v *site, c *operator.StageContext, status *operator.StatusOf[siteData]) error {
	var ids []resource.ID

	for n := range v.TypedSpec().Pages {
		id := pageID(v, n)
		ids = append(ids, id)

		if err := operator.Ensure(ctx, c, newPage(id), func(p *page) { *p.TypedSpec() = pageSpec{n, v.TypedSpec().Pages} }); err != nil {
			return err
		}
	}

	if err := operator.Prune[*page](ctx, c, ids...); err != nil {
		return err
	}

	status.Set(c, func(d *siteData) { d.Pages = len(ids) })

	if v.TypedSpec().Mode == late {
		return operator.Wait("Late", operator.After(20*time.Second))
	}

	return nil
}

func (s *subject) finalize(ctx context.Context, v *site, _ *operator.StageContext) error {
	md := v.Metadata()
	if md.Phase() != resource.PhaseTearingDown || !md.Finalizers().Has(finalizer) {
		s.world.Errorf("%s is finalized, and is %s and held by %v", md, md.Phase(), *md.Finalizers())
	}

	if err := s.stumble(ctx, "finalizer of "+md.ID()); err != nil {
		return err
	}

	if err := s.registry.remove(md.ID(), operator.Incarnation(v)); err != nil {
		return err
	}

	return s.stumbleLate("finalizer of " + md.ID())
}

func pageID(v *site, n int) resource.ID { return fmt.Sprintf("%s-%d", v.Metadata().ID(), n) }

// errStumbled is what fails by chance.
var errStumbled = errors.New("stumbled over " + secret)
