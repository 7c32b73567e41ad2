package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/runtime"
)

// thing is a resource of whatever kind.
type thing struct {
	md resource.Metadata
	n  *int
}

func newThing(kind resource.Type, id resource.ID, n int) *thing {
	return &thing{resource.NewMetadata(ns, kind, id, resource.VersionUndefined), &n}
}

func (t *thing) Metadata() *resource.Metadata { return &t.md }
func (t *thing) Spec() any                    { return t.n }

func (t *thing) DeepCopy() resource.Resource {
	n := *t.n

	return &thing{t.md.Copy(), &n}
}

// happened is one event, as the log of all of them has it.
type happened struct {
	from, to uint64
	changed  reduced.Change
	life     int   // how often it was destroyed before
	born     int64 // when this life began
}

// version names the version that the event has shown.
func (h happened) version(key reduced.Key) string {
	return fmt.Sprint(key, h.life, h.to, h.changed&reduced.ChangeDestroyed)
}

// causesWorld is a random graph of controllers, an engine that remembers all passes, and a log of all that has happened.
type causesWorld struct {
	t      *testing.T
	rand   *rand.Rand
	state  state.State
	engine *runtime.Runtime
	kinds  []resource.Type // those that the outside writes, and then what each controller makes
	all    []*traced
	begun  chan struct{} // closed when all watches are open: what happens before is nobody's news

	// mu guards the fields below.
	mu     sync.Mutex
	chance *rand.Rand // for controllers
	log    map[reduced.Key][]happened
	// made are the versions that controllers have made.
	made map[string]string
	// outside are the events that were made from outside, and destroyed counts the lives of each resource that the outside has ended.
	outside   map[string]bool
	destroyed map[reduced.Key]int
	book      *cause.Book
}

// traced is a controller of the graph.
type traced struct {
	world *causesWorld
	name  string
	// primary is the kind that it reconciles, or empty for a classic one; inputs are the others.
	primary resource.Type
	inputs  []resource.Type
	output  resource.Type
	workers uint
	holds   bool
	spread  int // how many primaries a mapped resource concerns
}

func (c *traced) Name() string { return c.name }

func (c *traced) declared(kind controller.InputKind) (all []controller.Input) {
	for _, in := range c.inputs {
		all = append(all, controller.Input{Namespace: ns, Type: in, Kind: kind})
	}

	return all
}

func (c *traced) Outputs() []controller.Output { return []controller.Output{exclusive(c.output)} }
func (c *traced) Inputs() []controller.Input   { return c.declared(controller.InputWeak) }

func (c *traced) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:      append(c.declared(controller.InputQMapped), controller.Input{Namespace: ns, Type: c.primary, Kind: controller.InputQPrimary}),
		Outputs:     c.Outputs(),
		Concurrency: optional.Some(c.workers),
	}
}

func (c *traced) MapInput(_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata) (all []resource.Pointer, _ error) {
	for _, id := range c.concerns(md.ID()) {
		all = append(all, resource.NewMetadata(ns, c.primary, id, resource.VersionUndefined))
	}

	return all, nil
}

// concerns are the primaries that a mapped resource wakes.
func (c *traced) concerns(id resource.ID) (all []resource.ID) {
	for i := range c.spread {
		all = append(all, fmt.Sprintf("%d", (int(id[0]-'0')+i)%ids))
	}

	return all
}

const ids = 10

var errTraced = errors.New("not this time")

// work takes its time, may fail, and may write.
func (c *traced) work(ctx context.Context, r controller.ReaderWriter, id resource.ID) error {
	w := c.world

	w.mu.Lock()
	takes, n, fails := time.Duration(w.chance.IntN(3))*time.Second, w.chance.IntN(3), w.chance.IntN(8) == 0
	w.mu.Unlock()

	<-w.begun

	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}

	before := resource.VersionUndefined

	res, err := r.ModifyWithResult(ctx, newThing(c.output, id, n), func(res resource.Resource) error {
		before = res.Metadata().Version()
		*res.(*thing).n = n

		return nil
	})
	if err != nil {
		return err
	}

	if v := res.Metadata().Version(); !v.Equal(before) {
		w.wrote(c.name, res.Metadata())
	}

	if fails {
		return errTraced
	}

	return nil
}

func (c *traced) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	if res, err := r.Get(ctx, ptr); err == nil && c.holds && res.Metadata().Phase() == resource.PhaseTearingDown {
		if err := r.RemoveFinalizer(ctx, ptr, c.name); err != nil && !state.IsNotFoundError(err) {
			return err
		}
	} else if err == nil && c.holds && !res.Metadata().Finalizers().Has(c.name) {
		if err := r.AddFinalizer(ctx, ptr, c.name); err != nil && !state.IsNotFoundError(err) {
			return err
		}
	}

	return c.work(ctx, r, ptr.ID())
}

func (c *traced) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := c.work(ctx, r, "0"); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func (w *causesWorld) wrote(by string, md *resource.Metadata) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.made[fmt.Sprint(reduced.KeyOf(md), md.Version())] = by
}

// follow logs what happens to a kind.
func (w *causesWorld) follow(ctx context.Context, kind resource.Type) {
	events := make(chan []state.Event, 1000)
	require.NoError(w.t, w.state.WatchKindAggregated(ctx, resource.NewMetadata(ns, kind, "", resource.VersionUndefined), events))

	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case batch := <-events:
				for _, e := range batch {
					w.saw(e)
				}
			}
		}
	}()
}

func (w *causesWorld) saw(e state.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()

	md := e.Resource.Metadata()
	h := happened{from: md.Version().Value(), to: md.Version().Value(), born: md.Created().UnixNano()}

	switch e.Type {
	case state.Created:
		h.from, h.changed = 0, reduced.ChangeCreated
	case state.Destroyed:
		h.changed = reduced.ChangeDestroyed
	case state.Updated:
		old := e.Old.Metadata()
		h.from = old.Version().Value()

		if *e.Old.(*thing).n != *e.Resource.(*thing).n {
			h.changed |= reduced.ChangeSpec
		}

		if fmt.Sprint(old.Labels().Raw()) != fmt.Sprint(md.Labels().Raw()) {
			h.changed |= reduced.ChangeLabels
		}

		if fmt.Sprint(*old.Finalizers()) != fmt.Sprint(*md.Finalizers()) {
			h.changed |= reduced.ChangeFinalizers
		}

		if old.Phase() != md.Phase() {
			h.changed |= reduced.ChangePhase
		}
	default:
		return
	}

	key := reduced.KeyOf(md)

	if all := w.log[key]; len(all) > 0 {
		last := all[len(all)-1]
		h.life = last.life

		if last.changed == reduced.ChangeDestroyed {
			h.life++
		}
	}

	w.log[key] = append(w.log[key], h)
}

// did notes what was done from outside.
func (w *causesWorld) did(ptr resource.Pointer, version uint64, destroyed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	key := reduced.KeyOf(ptr)
	h := happened{to: version, life: w.destroyed[key]}

	if destroyed {
		h.changed = reduced.ChangeDestroyed
		w.destroyed[key]++
	}

	w.outside[h.version(key)] = true
}

// destroy destroys something from outside.
func (w *causesWorld) destroy(ctx context.Context, ptr resource.Pointer) {
	res, err := w.state.Get(ctx, ptr)
	require.NoError(w.t, err)
	require.NoError(w.t, w.state.Destroy(ctx, ptr))
	w.did(ptr, res.Metadata().Version().Value(), true)
}

// act changes something from outside.
func (w *causesWorld) act(ctx context.Context, outside int) {
	kind := w.kinds[w.rand.IntN(outside)]
	md := resource.NewMetadata(ns, kind, fmt.Sprint(w.rand.IntN(ids)), resource.VersionUndefined)

	res, err := w.state.Get(ctx, md)
	if state.IsNotFoundError(err) {
		require.NoError(w.t, w.state.Create(ctx, newThing(kind, md.ID(), w.rand.IntN(3))))
		w.did(md, 1, false)

		return
	}

	require.NoError(w.t, err)

	if w.rand.IntN(6) == 0 {
		before := res.Metadata().Phase()
		ready, err := w.state.Teardown(ctx, md)
		require.NoError(w.t, err)

		if before == resource.PhaseRunning {
			w.did(md, w.tornDown(md), false)
		}

		if ready {
			w.destroy(ctx, md)
		}

		return
	}

	if res.Metadata().Phase() == resource.PhaseTearingDown {
		if res.Metadata().Finalizers().Empty() {
			w.destroy(ctx, md)
		}

		return
	}

	var before resource.Version

	res, err = w.state.UpdateWithConflicts(ctx, md, func(res resource.Resource) error {
		before = res.Metadata().Version()

		if w.rand.IntN(2) == 0 {
			*res.(*thing).n = w.rand.IntN(3)
		} else {
			res.Metadata().Labels().Set("label", fmt.Sprint(w.rand.IntN(3)))
		}

		return nil
	})
	require.NoError(w.t, err)

	if version := res.Metadata().Version(); !version.Equal(before) {
		w.did(md, version.Value(), false)
	}
}

// tornDown returns the version that a teardown has just made.
func (w *causesWorld) tornDown(ptr resource.Pointer) uint64 {
	synctest.Wait() // the log has it now

	w.mu.Lock()
	defer w.mu.Unlock()

	for _, h := range slices.Backward(w.log[reduced.KeyOf(ptr)]) {
		if h.changed&reduced.ChangePhase != 0 {
			return h.to
		}
	}

	w.t.Fatal("the log does not have the teardown")

	return 0
}

// Whatever happens, in whatever graph, what the passes say of why they were made is what has happened, each change once and in
// order, and what they say of what they have written is what they have.
func TestPassesKnowTheirCauses(t *testing.T) {
	t.Parallel()

	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testCauses(t, seed) })
		})
	}
}

// populate makes up kinds that are written from outside, and controllers, and returns how many of the kinds there are.
func (w *causesWorld) populate() (outside int) {
	outside = 1 + w.rand.IntN(3)
	for i := range outside {
		w.kinds = append(w.kinds, fmt.Sprintf("Outside%d.test", i))
	}

	for i := range 1 + w.rand.IntN(5) {
		w.add(i)
	}

	return outside
}

// run follows all kinds and runs the engine until the context ends, which whoever calls waits for.
func (w *causesWorld) run(ctx context.Context) *sync.WaitGroup {
	for _, kind := range w.kinds {
		w.follow(ctx, kind)
	}

	running := new(sync.WaitGroup)

	running.Go(func() { _ = w.engine.Run(ctx) })
	synctest.Wait()
	close(w.begun)

	return running
}

func testCauses(t *testing.T, seed uint64) {
	w := &causesWorld{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), chance: rand.New(rand.NewPCG(seed, 2)), log: map[reduced.Key][]happened{}, made: map[string]string{}, outside: map[string]bool{}, destroyed: map[reduced.Key]int{}, begun: make(chan struct{}),
		state: state.WrapCore(namespaced.NewState(func(ns resource.Namespace) state.CoreState {
			return inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(1 << 16))(ns)
		})),
	}

	var err error

	w.engine, err = runtime.New(w.state, nil, runtime.Config{Passes: 1 << 20})
	require.NoError(t, err)

	outside := w.populate()
	ctx, cancel := context.WithCancel(t.Context())
	running := w.run(ctx)

	for range 20 + w.rand.IntN(60) {
		for range 1 + w.rand.IntN(15) {
			w.act(ctx, outside)
			time.Sleep(time.Millisecond)
		}

		time.Sleep(time.Duration(w.rand.IntN(4000)) * time.Millisecond)
	}

	time.Sleep(time.Hour)
	synctest.Wait()

	w.book = w.engine.Book()

	for _, c := range w.all {
		w.check(c)
	}

	w.checkWriters()
	w.checkRoots(ctx, w.kinds[:outside])
	cancel()
	running.Wait()
}

func (w *causesWorld) add(i int) {
	c := &traced{
		world: w, name: fmt.Sprintf("controller%d", i), output: fmt.Sprintf("Made%d.test", i), workers: uint(1 + w.rand.IntN(8)),
		holds: w.rand.IntN(2) == 0, spread: 1 + w.rand.IntN(3),
	}

	kinds := slices.Clone(w.kinds)
	w.rand.Shuffle(len(kinds), func(a, b int) { kinds[a], kinds[b] = kinds[b], kinds[a] })
	c.inputs = kinds[:1+w.rand.IntN(len(kinds))]

	if w.rand.IntN(3) > 0 {
		c.primary, c.inputs = c.inputs[0], c.inputs[1:]
	}

	w.register(c)
	w.kinds, w.all = append(w.kinds, c.output), append(w.all, c)
}

func (w *causesWorld) register(c *traced) {
	if c.primary == "" {
		require.NoError(w.t, w.engine.RegisterController(c))
	} else {
		require.NoError(w.t, w.engine.RegisterQController(c))
	}
}

// check compares the passes of a controller with the log.
func (w *causesWorld) check(c *traced) {
	passes, err := w.engine.Passes(c.name)
	require.NoError(w.t, err)
	slices.Reverse(passes)

	told := map[string][]happened{} // by item and resource, what is left to be told of
	for key, all := range w.log {
		for _, to := range c.tells(key) {
			told[to] = slices.Clone(all)
		}
	}

	var more, left int

	for _, p := range passes {
		require.NotEqual(w.t, cause.Running, p.Outcome)

		if p.Outcome == cause.Failed {
			require.Equal(w.t, errTraced.Error(), p.Failure)
		}

		require.LessOrEqual(w.t, len(p.Causes), cause.Most)
		require.True(w.t, p.More == 0 || len(p.Causes) == cause.Most, "nothing is left out while there is room")

		for _, got := range p.Causes {
			where := tellsTo(p.Doing, p.Item.ID, got.Resource)
			all := told[where]

			if more == 0 && p.More == 0 {
				w.same(c, p, got, all)
			}

			require.GreaterOrEqual(w.t, len(all), int(got.Events), "%s of %s: %s", c.name, where, got)
			told[where] = all[got.Events:]
		}

		more += int(p.More)
	}

	for _, all := range told {
		left += len(all)
	}

	require.Equal(w.t, left, more, "%s: what is not told of is counted", c.name)
}

// same compares a cause with the events that come next.
func (w *causesWorld) same(c *traced, p cause.Pass, got cause.Cause, next []happened) {
	require.GreaterOrEqual(w.t, len(next), int(got.Events), "%s %d: %s", c.name, p.Number, got)

	want, others := next[0], 0
	for _, h := range next[:got.Events] {
		want.to, want.born = h.to, h.born
		want.changed |= h.changed

		if w.outside[h.version(got.Resource)] {
			others++
		}
	}

	require.Equal(w.t, want, happened{got.From, got.To, got.Changed, want.life, got.Life}, "%s %d of %v: %s", c.name, p.Number, p.Item, got)

	writers := w.book.Writers(&p, &got)
	if got.Changed&reduced.ChangeDestroyed != 0 {
		return // what has happened in several lives can not always be told apart
	}

	require.Equal(w.t, others, writers.Others, "%s %d of %v: %s, by %v", c.name, p.Number, p.Item, got, writers.Passes)
	require.False(w.t, writers.Forgotten)
}

// tells returns where a change of the resource is told of.
func (c *traced) tells(key reduced.Key) (all []string) {
	switch {
	case c.primary == "" && slices.Contains(c.inputs, key.Type):
		all = append(all, tellsTo(cause.Waking, "", key))
	case c.primary == key.Type:
		all = append(all, tellsTo(cause.Reconciling, key.ID, key))
	case slices.Contains(c.inputs, key.Type):
		all = append(all, tellsTo(cause.Mapping, key.ID, key))

		for _, id := range c.concerns(key.ID) {
			all = append(all, tellsTo(cause.Reconciling, id, key))
		}
	}

	return all
}

func tellsTo(doing cause.Doing, item resource.ID, key reduced.Key) string {
	return fmt.Sprintf("%s %s of %s", doing, item, key)
}

// checkWriters compares what passes say that they have written with what they have.
func (w *causesWorld) checkWriters() {
	found := map[string]string{}

	for _, c := range w.all {
		passes, err := w.engine.Passes(c.name)
		require.NoError(w.t, err)

		for _, p := range passes {
			require.Zero(w.t, p.MoreWrites)

			for _, write := range p.Writes {
				if write.Verb == "modify" {
					found[fmt.Sprint(write.Resource, write.Version)] = c.name
				}
			}
		}
	}

	require.Equal(w.t, w.made, found)
}

// checkRoots asks of each resource that controllers have written why it is as it is: what is said to come from outside has to be a
// change that did, and since nothing is forgotten, where it began has to be found.
func (w *causesWorld) checkRoots(ctx context.Context, outside []resource.Type) {
	answers := answer.New(answer.Config{Engine: w.engine, State: w.state})

	for key := range w.log {
		if slices.Contains(outside, key.Type) {
			continue
		}

		why, err := answers.WhyResource(ctx, api.Ref{Namespace: key.Namespace, Type: key.Type, ID: key.ID})
		require.NoError(w.t, err)
		require.NotEmpty(w.t, why.Roots, "%s:\n%s", key, why)

		for _, root := range why.Roots {
			if root.Kind == api.RootOutside {
				w.checkRoot(&root, outside)
			}
		}

		if last := w.book.WrittenBy(key.Pointer()); len(last) > 0 {
			w.checkTrueRoots(last[len(last)-1], why)
		}
	}
}

// checkRoot finds the change from outside that a root is.
func (w *causesWorld) checkRoot(root *api.Root, outside []resource.Type) {
	require.Contains(w.t, outside, root.Resource.Type, root.Text)

	p := w.book.Pass(root.Pass.Controller, root.Pass.Number)

	require.True(w.t, slices.ContainsFunc(p.Causes, func(c cause.Cause) bool {
		return c.Resource.Type == root.Resource.Type && c.Resource.ID == root.Resource.ID && slices.ContainsFunc(w.log[c.Resource], func(h happened) bool {
			return h.to <= max(c.From, c.To) && w.outside[h.version(c.Resource)]
		})
	}), "%s %v", root.Text, p)
}

// checkTrueRoots looks for what was changed from outside and has woken a pass among the roots.
func (w *causesWorld) checkTrueRoots(p *cause.Pass, why *api.Why) {
	for i := range p.Causes {
		c := &p.Causes[i]
		if writers := w.book.Writers(p, c); writers.Others == 0 {
			continue
		}

		require.True(w.t, slices.ContainsFunc(why.Roots, func(root api.Root) bool {
			return root.Kind == api.RootOutside && root.Resource.Type == c.Resource.Type && root.Resource.ID == c.Resource.ID
		}), "%s is not among the roots:\n%s", c, why)
	}
}

// Nothing is remembered unless it is asked for, and of a controller that is not there nothing can be.
func TestPassesAreRememberedIfAskedFor(t *testing.T) {
	t.Parallel()

	engine, err := runtime.New(state.WrapCore(namespaced.NewState(inmem.Build)), nil, runtime.Config{})
	require.NoError(t, err)
	require.NoError(t, engine.RegisterController(&classic{name: "idle", inputs: []controller.Input{sources(controller.InputWeak)}}))

	passes, err := engine.Passes("idle")
	require.NoError(t, err)
	require.Empty(t, passes)
	require.Empty(t, engine.Book().Passes("idle"))

	_, err = engine.Passes("nobody")
	require.ErrorIs(t, err, runtime.ErrNotRegistered)
}

// A pass that is told of a write of a controller says so, and the answer to why goes back to the outside.
func TestWhyGoesThroughTheGraph(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		st := state.WrapCore(namespaced.NewState(inmem.Build))
		engine, err := runtime.New(st, nil, runtime.Config{Passes: cause.DefaultPasses})
		require.NoError(t, err)
		require.NoError(t, engine.RegisterController(&classic{
			name: "maker", inputs: []controller.Input{sources(controller.InputWeak)}, outputs: []controller.Output{exclusive(targetType)},
			pass: func(ctx context.Context, r controller.Runtime) error {
				src, err := r.Get(ctx, newSource("a", 0).Metadata())
				if err != nil {
					return nil // not yet
				}

				return r.Modify(ctx, newTarget("b", 0), func(res resource.Resource) error {
					res.(*target).TypedSpec().N = src.(*source).TypedSpec().N

					return nil
				})
			},
		}))

		ctx, cancel := context.WithCancel(t.Context())

		var running sync.WaitGroup

		running.Go(func() { _ = engine.Run(ctx) })
		synctest.Wait()
		require.NoError(t, st.Create(ctx, newSource("a", 1)))
		synctest.Wait()

		src := newSource("a", 2)
		src.Metadata().SetVersion(resource.VersionUndefined.Next())
		require.NoError(t, st.Update(ctx, src))
		synctest.Wait()

		ptr := targetPtr("b")
		answers := engine.Book().WhyIs(&ptr)
		require.Len(t, answers, 1)
		require.Equal(t, "maker #3 run: succeeded\n  Sources.test.switchyard.run(test/a) v1 → v2: spec, from outside\n", answers[0].String())

		last := answers[0].Pass
		require.Equal(t, []cause.Access{{Resource: reduced.KeyOf(newSource("a", 0).Metadata()), Version: 2}}, last.Reads)
		require.Equal(t, "modify Targets.test.switchyard.run(test/b) v2", last.Writes[0].String())

		cancel()
		running.Wait()
	})
}
