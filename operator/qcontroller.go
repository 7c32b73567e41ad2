package operator

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/reconcile"
	"github.com/switchyard-run/switchyard/reduced"
)

// qController runs a definition.
type qController struct {
	def        *definition
	filter     *filter
	lives      lives
	references references
	blockers   blockers
	offspring  offspring

	// learning is held by the pass that fills the references, and learned is closed once that is done.
	learning chan struct{}
	learned  chan struct{}

	owned   map[reduced.Kind]*ownedKind
	watched map[reduced.Kind]*watchedKind
}

// Build checks all that was said of the controller, and returns an ordinary controller of the contract, to be registered once
// with whatever engine. Its error is a [*DefinitionError] that tells all mistakes. Nothing is said of the controller after
// it, and it is built once.
//
// Who destroys primaries that are torn down and have no finalizer left, and sweeps old events, is not part of it: see [Register].
func (c *Controller[P]) Build() (controller.QController, error) { return c.def.build() }

func (d *definition) build() (controller.QController, error) {
	if err := d.check(); err != nil {
		return nil, err
	}

	d.built = true

	q := &qController{
		def: d, filter: newFilter(), learning: make(chan struct{}, 1), learned: make(chan struct{}),
		owned: map[reduced.Kind]*ownedKind{}, watched: map[reduced.Kind]*watchedKind{},
	}

	for _, owned := range d.owned {
		q.owned[owned.kind] = owned
	}

	for _, watched := range d.watched {
		q.watched[watched.kind] = watched
	}

	return q, nil
}

// Name implements the contract.
func (q *qController) Name() string { return q.def.name }

// Settings implements the contract.
func (q *qController) Settings() controller.QSettings { return q.def.settings() }

// MapInput implements the contract.
func (q *qController) MapInput(
	ctx context.Context, logger *zap.Logger, r controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	kind := reduced.Kind{Namespace: md.Namespace(), Type: md.Type()}
	watched, owned, status := q.watched[kind], q.owned[kind] != nil, q.def.status != nil && q.def.status.kind == kind

	if watched == nil && !owned && !status {
		return nil, fmt.Errorf("unexpected input %s", md.Type())
	}

	var ids []resource.ID

	if watched != nil {
		var err error
		if ids, err = q.wakes(ctx, logger, r, watched, md); err != nil {
			return nil, err
		}
	}

	if owned {
		child, parents := reduced.Key{Kind: kind, ID: md.ID()}, q.parents(md)

		// Each of these has a pass now, which forgets it again if it is gone.
		for _, id := range parents {
			q.offspring.add(id, child)
		}

		ids = append(append(ids, parents...), q.blockers.take(child)...)
	}

	if status && (q.def.reports.updates || md.Phase() == resource.PhaseTearingDown) {
		ids = append(ids, md.ID())
	}

	return q.pointers(ids), nil
}

// Reconcile implements the contract.
func (q *qController) Reconcile(ctx context.Context, logger *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	if err := q.learn(ctx, logger, r); err != nil {
		return err
	}

	run := &pass{
		def: q.def, blockers: &q.blockers, offspring: &q.offspring,
		runtime: r, logger: logger, clock: clockOf(ctx),
	}

	// What is decided here is not decided by a cache: that something is missing there does not mean that it is gone.
	primary, err := run.find(ctx, ptr)
	if err == nil && primary != nil {
		primary, err = run.hold(ctx, primary)
	}

	if err != nil {
		return err
	}

	if primary == nil {
		q.forget(ptr.ID())

		return nil
	}

	run.look(primary)

	if primary.Metadata().Phase() == resource.PhaseTearingDown && !q.def.holds(primary.Metadata()) {
		q.forget(ptr.ID())

		return nil
	}

	if len(q.def.owned) > 0 {
		q.lives.is(ptr.ID(), run.incarnation)
	}

	return q.pass(ctx, run)
}

// forget drops what is known of a primary that is gone.
func (q *qController) forget(id resource.ID) {
	q.lives.forget(id)
	q.blockers.forget(id)
	q.offspring.forget(id)
}

// hold puts the finalizer on a running primary that has to have it, and returns what it is then: it may be torn down, or gone.
func (run *pass) hold(ctx context.Context, primary resource.Resource) (resource.Resource, error) {
	md := primary.Metadata()
	if !run.unheld(md) {
		return primary, nil
	}

	if err := run.runtime.AddFinalizer(ctx, md, run.def.finalizer); err != nil && !state.IsNotFoundError(err) {
		return nil, err
	}

	primary, err := run.find(ctx, md)
	if err == nil && primary != nil && run.unheld(primary.Metadata()) {
		return nil, &changedError{md} // it has ended before it was held, and begun once more
	}

	return primary, err
}

// unheld tells whether a primary has to have the finalizer and has none.
func (run *pass) unheld(md *resource.Metadata) bool {
	return run.def.needsFinalizer() && md.Phase() == resource.PhaseRunning && !md.Finalizers().Has(run.def.finalizer) &&
		run.def.selects(md.Labels())
}

// pass does what there is to do for a primary, reports it, and tells the engine when to come again.
func (q *qController) pass(ctx context.Context, run *pass) error {
	within, cancel := ctx, context.CancelFunc(func() {})
	if q.def.timeout > 0 {
		within, cancel = context.WithTimeout(ctx, q.def.timeout)
	}

	defer cancel()

	if err := run.begin(within); err != nil {
		return err
	}

	run.exited = func(res result) { q.conclude(ctx, within, run, &res) }

	var res result

	switch md := run.primary.Metadata(); {
	case md.Phase() == resource.PhaseTearingDown:
		res = run.cleanup(ctx, within)
	case !q.def.selects(md.Labels()):
		res = run.outOfScope()
	default:
		res = run.work(ctx, within)
	}

	q.conclude(ctx, within, run, &res)

	if res.verdict == reconcile.Stopped {
		return res.err
	}

	return q.engine(run, res)
}

// conclude tells what the pass has come to, in its status and in events, unless it was stopped.
func (q *qController) conclude(ctx, within context.Context, run *pass, res *result) {
	if res.verdict != reconcile.Stopped && !res.over {
		run.report(ctx, within, res)
	}

	if res.verdict != reconcile.Stopped {
		q.flush(ctx, run)
	}
}

// work brings about what a running primary asks for.
func (run *pass) work(ctx, within context.Context) result {
	res := run.steps(ctx, within)
	if res.verdict != reconcile.Succeeded {
		return res
	}

	if err := run.save(within); err != nil {
		res.err, res.at = fmt.Errorf("saving the primary: %w", err), run.def.order[0]
		res.verdict, res.after = reconcile.Classify(ctx, res.err)
		res.conditions = run.unfinished(res, nil)
	}

	return res
}

// outOfScope says that a primary is none of the controller's any more. What was made for it stays.
func (run *pass) outOfScope() result {
	if run.status.current == nil {
		return result{over: true}
	}

	return result{conditions: []Condition{{
		Type: Ready, Status: Unknown, Reason: reasonOutOfScope, Message: "its labels are not selected any more; what was made for it stays",
	}}}
}

// engine says what a result means to the engine.
func (q *qController) engine(run *pass, res result) error {
	switch res.verdict {
	case reconcile.Pending:
		return controller.NewRequeueInterval(res.after)
	case reconcile.Failed:
		return failure(res)
	case reconcile.Halted:
		run.logger.Error("the pass has failed, and is not tried again until something changes", contain.Fields(res.err)...)

		return again(q.def.resync)
	}

	switch {
	case res.after > 0:
		return again(res.after)
	case !res.worked:
		return nil
	case q.def.every > 0 && (q.def.resync == 0 || q.def.every < q.def.resync):
		return again(q.def.every)
	default:
		return again(q.def.resync)
	}
}

// again asks the engine for another pass after a time; 0 is not to ask.
func again(after time.Duration) error {
	if after == 0 {
		return nil
	}

	return controller.NewRequeueInterval(after)
}
