package examples_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/runtime"
	"github.com/switchyard-run/switchyard/runtime/options"
	"github.com/switchyard-run/switchyard/stateadapter"
)

func Example_config() {
	st, logger := newState(), zap.NewNop()

	engine, err := runtime.New(st, logger, runtime.Config{
		Options:       []options.Option{safe.WithResourceCache[*Host](), options.WithChangeRateLimit(100, 20)},
		AuditInterval: 10 * time.Minute,
		Backoff:       backoff.Policy{Base: time.Second, Factor: 2, Max: time.Minute, Jitter: 0.1},
		Grace:         30 * time.Second,
	})
	must(err)

	fmt.Println(engine.Health().Problems())

	_, err = runtime.New(st, logger, runtime.Config{Grace: -time.Second})
	fmt.Println(err)

	// Output:
	// [the engine does not run]
	// runtime config: Grace is -1s, it must not be negative
}

func Example_deadlines() {
	st, logger := newState(), zap.NewNop()

	engine, err := runtime.New(st, logger, runtime.Config{
		PassDeadline:  time.Minute,
		PassDeadlines: map[string]time.Duration{"Importer": time.Hour, "Follower": 0},
	})
	must(err)
	must(engine.RegisterQController(Recorder{}))

	must(withoutRecorder(context.Background(), engine, func() error {
		fmt.Println(engine.Health().Controllers[0].Paused)

		return nil
	}))

	fmt.Println(engine.Health().Controllers[0].Paused)

	// Output:
	// true
	// false
}

// withoutRecorder does something while the Recorder is given no work.
func withoutRecorder(ctx context.Context, engine *runtime.Runtime, do func() error) error {
	if err := engine.Pause(ctx, "Recorder"); err != nil {
		return err
	}

	return errors.Join(do(), engine.Resume("Recorder"))
}

// thief writes what it has not declared.
type thief struct{ refused chan error }

func (*thief) Name() string                 { return "Thief" }
func (*thief) Inputs() []controller.Input   { return nil }
func (*thief) Outputs() []controller.Output { return nil }

func (t *thief) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	t.refused <- r.Create(ctx, newRecord("web"))

	return nil
}

func Example_errors() {
	engine, err := runtime.NewRuntime(newState(), zap.NewNop())
	must(err)
	must(engine.RegisterQController(Recorder{}))

	var refusal *dependency.DeclarationError

	err = engine.RegisterQController(Recorder{})
	fmt.Println(errors.Is(err, dependency.ErrNameTaken), errors.As(err, &refusal), refusal.Controller)

	t := &thief{refused: make(chan error)}
	must(engine.RegisterController(t))

	run(engine, func(context.Context) {
		err := <-t.refused
		fmt.Println(errors.Is(err, stateadapter.ErrNotWritable))
		fmt.Println(err)
	})

	// Output:
	// true true Recorder
	// true
	// controller "Thief" may not create default/Records.example.dev with id "web": it is not an output (declare the type in Outputs or Settings)
}

func Example_unregister() {
	engine, err := runtime.NewRuntime(newState(), zap.NewNop())
	must(err)
	must(engine.RegisterQController(Recorder{}))

	run(engine, func(ctx context.Context) {
		must(engine.Unregister(ctx, "Recorder"))
		must(engine.RegisterQController(Recorder{})) // its name and its outputs are free again
	})

	fmt.Println("registered:", len(engine.Health().Controllers))

	// Output:
	// registered: 1
}

func Example_graph() {
	engine, err := runtime.NewRuntime(newState(), zap.NewNop())
	must(err)
	must(engine.RegisterQController(Recorder{}))

	graph, err := engine.GetDependencyGraph()
	must(err)

	var picture strings.Builder
	must(render.Mermaid(&picture, graph, render.WithTitle("Records")))

	fmt.Println(strings.Contains(picture.String(), "flowchart"))

	// Hosts have to come from outside, and no controller reads the records.
	fmt.Println("findings:", len(analysis.Analyze(graph).Findings()))

	// Output:
	// true
	// findings: 2
}

// healthz answers 200 when all is well, and otherwise 503 with a line for each problem.
func healthz(engine *runtime.Runtime) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		problems := engine.Health().Problems()

		if len(problems) > 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}

		for _, problem := range problems {
			fmt.Fprintln(w, problem)
		}
	}
}

func Example_health() {
	engine, err := runtime.NewRuntime(newState(), zap.NewNop())
	must(err)

	answer := httptest.NewRecorder()
	healthz(engine)(answer, httptest.NewRequest(http.MethodGet, "/healthz", nil))

	fmt.Print(answer.Code, " ", answer.Body)

	// Output:
	// 503 the engine does not run
}

func Example_endRun() {
	st, logger := newState(), zap.NewNop()

	engine, err := runtime.New(st, logger, runtime.Config{
		OnWatchFailure: runtime.EndRun,
		Options:        []options.Option{safe.WithResourceCache[*Host]()},
	})
	must(err)

	run(engine, func(context.Context) { fmt.Println("running") })

	// Output:
	// running
}
