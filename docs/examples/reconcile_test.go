package examples_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/queue"
	"github.com/switchyard-run/switchyard/reconcile"
)

// keepRecords keeps a record for each host.
func keepRecords(st state.State) reconcile.ReconcilerFunc[reconcile.Ref] {
	return func(ctx context.Context, ref reconcile.Ref) (reconcile.Result, error) {
		host, err := safe.StateGet[*Host](ctx, st, ref)

		switch {
		case state.IsNotFoundError(err):
			if err = st.Destroy(ctx, newRecord(ref.Name).Metadata()); state.IsNotFoundError(err) {
				err = nil
			}

			return reconcile.Result{}, err
		case err != nil:
			return reconcile.Result{}, err
		}

		return reconcile.Result{}, safe.StateModify(ctx, st, newRecord(ref.Name), func(record *Record) error {
			record.TypedSpec().Value = ref.Name + " A " + host.TypedSpec().Value

			return nil
		})
	}
}

// runRecords keeps records until the context ends.
func runRecords(ctx context.Context, st state.State, hints <-chan reconcile.Ref) error {
	m := reconcile.NewManager(st)

	if err := m.Register(hostType, keepRecords(st), reconcile.WithScopes(namespace), reconcile.WithWorkers(4)); err != nil {
		return err
	}

	var telling sync.WaitGroup
	defer telling.Wait()

	telling.Go(func() {
		for ref := range hints {
			m.Enqueue(ref)
		}
	})

	return m.Start(ctx)
}

func Example_loop() {
	ctx, stop := context.WithCancel(context.Background())
	st, hints, ended := newState(), make(chan reconcile.Ref), make(chan error, 1)

	must(st.Create(ctx, newHost("web", "192.0.2.7")))

	go func() { ended <- runRecords(ctx, st, hints) }()

	show := func(id string) {
		record, err := st.WatchFor(ctx, newRecord(id).Metadata(), state.WithEventTypes(state.Created))
		must(err)
		fmt.Println(record.(*Record).TypedSpec().Value)
	}

	show("web") // was there before: the first list has found it

	db := newHost("db", "192.0.2.9")
	must(st.Create(ctx, db))

	hints <- reconcile.RefOf(db.Metadata()) // without it, the next resync would find it

	show("db")

	stop()
	close(hints)
	must(<-ended)

	// Output:
	// web A 192.0.2.7
	// db A 192.0.2.9
}

// database is what a deployment needs.
type database struct {
	name         string
	up, approved bool
	version      string
}

// quotaError says of itself what it is, and needs no wrapping.
type quotaError struct{ asked, left int }

func (e *quotaError) Error() string {
	return fmt.Sprintf("%d were asked for, and %d are left", e.asked, e.left)
}

func (e *quotaError) Class() reconcile.Class { return reconcile.ClassBudgetExceeded }

// deploy says what has come of a pass.
func deploy(db database) error {
	switch {
	case db.version == "":
		return reconcile.Terminal(errors.New("the spec has no version"))
	case !db.approved:
		return reconcile.WithClass(reconcile.ClassNeedsApproval, errors.New("nobody has approved the deployment"))
	case !db.up:
		return reconcile.Wait("DatabaseStarting", reconcile.After(5*time.Second), reconcile.Message("%s does not answer yet", db.name))
	default:
		return reconcile.RequeueAfter(time.Hour) // look again, though nothing is wrong
	}
}

func Example_outcomes() {
	run := context.Background()
	tell := func(err error) {
		verdict, after := reconcile.Classify(run, err)
		fmt.Println(verdict, after, "-", err)
	}

	tell(nil)
	tell(deploy(database{name: "users", version: "v2", approved: true, up: true}))
	tell(deploy(database{name: "users", version: "v2", approved: true}))
	tell(errors.New("connection refused"))
	tell(fmt.Errorf("deploying: %w", deploy(database{name: "users", version: "v2"})))
	tell(&quotaError{asked: 3, left: 1})
	tell(errors.Join(errors.New("connection refused"), deploy(database{})))

	// Output:
	// succeeded 0s - <nil>
	// succeeded 1h0m0s - requeue in 1h0m0s
	// pending 5s - waiting: DatabaseStarting: users does not answer yet
	// failed 0s - connection refused
	// halted 0s - deploying: nobody has approved the deployment
	// halted 0s - 3 were asked for, and 1 are left
	// halted 0s - connection refused
	// the spec has no version
}

// images builds images beside the loop, and remembers which are built.
type images struct {
	build func(name string)
	queue *queue.Queue[string]

	building sync.WaitGroup

	// mu guards built, which is false for what is being built.
	mu    sync.Mutex
	built map[string]bool
}

// Reconcile begins to build an image, or looks whether it is built. It does not wait.
func (i *images) Reconcile(_ context.Context, name string) (reconcile.Result, error) {
	i.mu.Lock()
	defer i.mu.Unlock()

	switch built, begun := i.built[name]; {
	case built:
		return reconcile.Result{}, nil
	case !begun:
		i.built[name] = false

		i.building.Go(func() {
			i.build(name)

			i.mu.Lock()
			defer i.mu.Unlock()

			i.built[name] = true
			i.queue.Add(name)
		})
	}

	return reconcile.Result{}, reconcile.Wait("Building")
}

func Example_longWork() {
	ctx, stop := context.WithCancel(context.Background())
	others := make(chan struct{})
	i := &images{built: map[string]bool{}, queue: queue.NewQueue[string](nil), build: func(name string) {
		if name == "large" {
			<-others // takes until the others have had their turn, which they would not have if the loop waited for it
		}
	}}

	c := reconcile.NewController("images", i.queue,
		reconcile.ReconcilerFunc[string](func(ctx context.Context, name string) (reconcile.Result, error) {
			result, err := i.Reconcile(ctx, name)
			if err == nil {
				fmt.Println(name, "is built")

				if name == "small" {
					close(others)
				} else {
					stop()
				}
			}

			return result, err
		}))

	c.Queue().Add("large")
	c.Queue().Add("small")
	c.Run(ctx)
	i.building.Wait()

	// Output:
	// small is built
	// large is built
}

func Example_generations() {
	ctx := context.Background()
	st := state.WrapCore(generation.Wrap(newState(), generation.Config{Types: []string{hostType}}))

	host := newHost("web", "192.0.2.7")
	must(st.Create(ctx, host))
	must(st.AddFinalizer(ctx, host.Metadata(), "Recorder"))

	host, err := safe.StateUpdateWithConflicts(ctx, st, host.Metadata(), func(host *Host) error {
		host.TypedSpec().Value = "192.0.2.8"

		return nil
	})
	must(err)

	fmt.Println("version", host.Metadata().Version(), "generation", generation.Of(host))

	// Output:
	// version 3 generation 2
}
