package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/optional"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
)

// crew is a queue controller whose primary inputs are people, and whose mapped ones are tasks: a task has a label for each
// of the people it is given to, and is mapped to them. A person looks at the tasks that it has.
type crew struct {
	*world

	faults *faulty
	people []resource.ID
	// distinct has each write give a task labels that it has not had, so that a mapping tells which write it is of.
	distinct bool

	// mu guards the fields below.
	mu sync.Mutex
	// moment counts what happens, so that it can be told what was first.
	moment int
	gate   chan struct{} // nil, or closed when passes may go on
	fail   int           // how many calls of MapInput are to fail
	tasks  map[resource.ID][]given
	mapped []given
	passes map[resource.ID]int // moment at which the last one began
	saw    map[resource.ID][]resource.ID
	trace  []resource.ID
}

// given is who a task is given to, nobody when it was destroyed. As written, it has come to be after the moment; as mapped
// by a call that succeeded, it has come to be before, and the task may be given to others by then.
type given struct {
	moment int
	task   resource.ID
	people []resource.ID
	labels string // all of them in one, which is quickly compared
}

func givenAt(moment int, id resource.ID, labels *resource.Labels) given {
	return given{moment, id, labels.Keys(), fmt.Sprint(labels.Raw())}
}

func newCrew(t *testing.T, st state.State, cached bool, people ...resource.ID) *crew {
	var cfg runtime.Config

	cfg.Backoff = backoff.Policy{Base: time.Millisecond, Factor: 2, Max: 8 * time.Millisecond}
	cfg.WatchBackoff = cfg.Backoff

	if cached {
		cfg.Options = append(cfg.Options, options.WithCachedResource("n", conformance.StrResourceType))
	}

	faults := newFaulty(st)
	c := &crew{
		world: newWorld(t, faults.asState(), cfg, nil), faults: faults, people: people,
		tasks: map[resource.ID][]given{}, passes: map[resource.ID]int{}, saw: map[resource.ID][]resource.ID{},
	}

	for _, id := range people {
		c.create(conformance.NewIntResource("n", id, 0))
	}

	c.register(&queued{
		name: "crew",
		settings: controller.QSettings{
			Inputs: []controller.Input{
				{Namespace: "n", Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
				{Namespace: "n", Type: conformance.StrResourceType, Kind: controller.InputQMapped},
			},
			Concurrency: optional.Some[uint](2),
		},
		reconcile: c.reconcile,
		mapInput:  c.mapInput,
	})

	return c
}

// task returns one that is given to people by labels of the value.
func task(id resource.ID, value string, people ...resource.ID) *conformance.StrResource {
	res := conformance.NewStrResource("n", id, "")
	for _, person := range people {
		res.Metadata().Labels().Set(person, value)
	}

	return res
}

// wait lets a pass go on when the gate is open, and returns the moment at which it does.
func (c *crew) wait() int {
	for {
		c.mu.Lock()

		if c.gate == nil {
			defer c.mu.Unlock()

			c.moment++

			return c.moment
		}

		gate := c.gate
		c.mu.Unlock()
		<-gate
	}
}

func (c *crew) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.gate == nil {
		c.gate = make(chan struct{})
	}
}

func (c *crew) release() {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.gate != nil {
		close(c.gate)
		c.gate = nil
	}
}

func (c *crew) reconcile(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
	began := c.wait()

	tasks, err := r.List(ctx, task("", "").Metadata(), state.WithLabelQuery(resource.LabelExists(ptr.ID())))
	if err != nil {
		return err
	}

	var saw []resource.ID

	for _, res := range tasks.Items {
		saw = append(saw, res.Metadata().ID())
	}

	slices.Sort(saw)

	c.mu.Lock()
	defer c.mu.Unlock()

	c.passes[ptr.ID()], c.saw[ptr.ID()] = began, saw
	c.trace = append(c.trace, ptr.ID())

	return nil
}

func (c *crew) mapInput(_ context.Context, _ controller.QRuntime, md controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	began := c.wait()

	c.mu.Lock()
	defer c.mu.Unlock()

	if c.fail > 0 {
		c.fail--

		return nil, errors.New("not now")
	}

	people := md.Labels().Keys()
	c.mapped = append(c.mapped, givenAt(began, md.ID(), md.Labels()))

	pointers := make([]resource.Pointer, len(people))
	for i, id := range people {
		pointers[i] = conformance.NewIntResource("n", id, 0).Metadata()
	}

	return pointers, nil
}

// write does something to a task, with the value that its labels are to have, and takes down what the task is then: nil
// after it was destroyed.
func (c *crew) write(id resource.ID, do func(value string) (resource.Resource, error)) {
	c.mu.Lock()
	c.moment++
	moment := c.moment
	c.mu.Unlock()

	var value string
	if c.distinct {
		value = strconv.Itoa(moment)
	}

	res, err := do(value)
	require.NoError(c.t, err)

	c.mu.Lock()
	defer c.mu.Unlock()

	var labels resource.Labels
	if res != nil {
		labels = *res.Metadata().Labels()
	}

	c.tasks[id] = append(c.tasks[id], givenAt(moment, id, &labels))
}

func (c *crew) add(id resource.ID, people ...resource.ID) {
	c.write(id, func(value string) (resource.Resource, error) {
		res := task(id, value, people...)

		return res, c.state.Create(c.t.Context(), res)
	})
}

// give gives a task to others, and changes it anyhow.
func (c *crew) give(id resource.ID, people ...resource.ID) {
	c.write(id, func(value string) (resource.Resource, error) {
		return c.state.UpdateWithConflicts(c.t.Context(), task(id, "").Metadata(), func(res resource.Resource) error {
			str := res.(*conformance.StrResource)
			str.SetValue(str.Value() + ".")

			labels := res.Metadata().Labels()

			for _, person := range labels.Keys() {
				labels.Delete(person)
			}

			for _, person := range people {
				labels.Set(person, value)
			}

			return nil
		})
	})
}

func (c *crew) drop(id resource.ID) {
	c.write(id, func(string) (resource.Resource, error) {
		return nil, c.state.Destroy(c.t.Context(), task(id, "").Metadata())
	})
}

// ran returns who has looked since the last call, in order of id, when all has come to rest.
func (c *crew) ran() []resource.ID {
	time.Sleep(time.Second)
	synctest.Wait()

	c.mu.Lock()
	defer c.mu.Unlock()

	ran := slices.Compact(slices.Sorted(slices.Values(c.trace)))
	c.trace = nil

	return ran
}

// wrong tells what is not as it was promised: a person that was told of a task and did not look then, or did not look when
// it was taken away, or does not see the tasks that there are.
func (c *crew) wrong() (wrong []string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	has := map[resource.ID][]resource.ID{}

	for id, writes := range c.tasks {
		for _, person := range writes[len(writes)-1].people {
			has[person] = append(has[person], id)
		}
	}

	for _, person := range c.people {
		if slices.Sort(has[person]); !slices.Equal(has[person], c.saw[person]) {
			wrong = append(wrong, fmt.Sprintf("%s saw %v, not %v", person, c.saw[person], has[person]))
		}
	}

	for _, m := range c.mapped {
		writes := c.since(m)
		if len(writes) == 0 {
			wrong = append(wrong, fmt.Sprintf("%s was mapped at %d with labels that it never had: %s", m.task, m.moment, m.labels))
		}

		for _, person := range m.people {
			passed, taken := c.passes[person], takenFrom(person, writes)

			if passed < m.moment {
				wrong = append(wrong, fmt.Sprintf("%s did not look when told of %s at %d, only at %d", person, m.task, m.moment, passed))
			}

			if passed < taken {
				wrong = append(wrong, fmt.Sprintf("%s was not told at %d that %s was taken away, only at %d", person, taken, m.task, passed))
			}
		}
	}

	return wrong
}

// since returns the write that a mapping is of, and those after it. Labels alone tell which one it is: versions begin anew
// when a task is created again, and former labels come with the version that has lost them, so that together they may be
// those of a write which the engine was never shown. Of several writes with these labels, the first asks for least.
func (c *crew) since(m given) []given {
	writes := c.tasks[m.task]

	at := slices.IndexFunc(writes, func(w given) bool { return w.moment < m.moment && w.labels == m.labels })
	if at < 0 {
		return nil
	}

	return writes[at:]
}

// takenFrom returns the moment of the first write that leaves a task without a person, or 0. Once the engine was shown
// that the person had it, whatever it is shown after that write wakes the person: the task is mapped to it once more,
// or with its former labels.
func takenFrom(person resource.ID, writes []given) (moment int) {
	for _, w := range writes {
		if !slices.Contains(w.people, person) {
			return w.moment
		}
	}

	return 0
}
