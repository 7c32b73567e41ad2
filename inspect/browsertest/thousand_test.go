//go:build unix

package browsertest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect"
	"github.com/switchyard-run/switchyard/runtime"
)

// A page on 1,000 controllers has its list and its search at once, and its picture when that is laid out.
func TestAThousandControllers(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 32})
	require.NoError(t, err)

	for i := range 1000 {
		require.NoError(t, engine.RegisterQController(worker{i}))
	}

	server := serve(t, engine, st)
	b := open(t)

	began := time.Now()
	b.do(chromedp.Navigate(server.URL + "/inspect/"))
	require.Equal(t, 1000, value[int](b, `document.querySelectorAll("#controllers tr").length`))
	t.Logf("the list was there after %v", time.Since(began))

	asked := time.Now()
	began = asked
	b.do(chromedp.SendKeys(chromedp.ID("search"), "Family07"))
	b.until(`document.getElementById("count").textContent === "20 of 1000"`)
	t.Logf("the search was answered after %v", time.Since(began))
	require.Equal(t, 20, value[int](b, `[...document.querySelectorAll("#controllers tr")].filter((row) => row.checkVisibility()).length`))

	b.until(`document.querySelector("#picture svg")`)
	t.Logf("the picture was there after %v", time.Since(asked))
	b.until(`document.querySelectorAll("#picture .node.found").length > 0`)
	b.picture("thousand")

	b.do(chromedp.KeyEvent("\x1b"))
	b.until(`[...document.querySelectorAll("#controllers tr")].every((row) => row.checkVisibility())`)
	showsOneState(b, engine)
	t.Logf("the server takes %.1f %% of a processor while the page is live", 100*costOf(b, st))
	b.clean(server.URL)
}

// showsOneState leaves the controllers of one state alone in the list, while some go and come.
func showsOneState(b *browser, engine *runtime.Runtime) {
	b.Helper()

	const shown = `[...document.querySelectorAll("#controllers tr")].filter((row) => row.checkVisibility()).length`

	for i := range 3 {
		require.NoError(b, engine.Pause(b.Context(), worker{i}.Name()))
	}

	b.until(`document.querySelector('#states [data-state="paused"] .number').textContent === "3"`)
	b.do(chromedp.Click(chromedp.CSS(`#states [data-state="paused"]`)))
	b.until(`document.getElementById("count").textContent === "3 of 1000"`)
	require.Equal(b, 3, value[int](b, shown))
	require.Equal(b, "true", value[string](b, `document.querySelector('#states [data-state="paused"]').ariaPressed`))

	require.NoError(b, engine.Resume(worker{0}.Name()))
	b.until(`document.getElementById("count").textContent === "2 of 1000"`)

	b.do(chromedp.Click(chromedp.CSS(`#states [data-state="paused"]`)))
	b.until(shown + ` === 1000`)

	for i := 1; i < 3; i++ {
		require.NoError(b, engine.Resume(worker{i}.Name()))
	}

	b.until(`document.querySelector('#states [data-state="paused"]').hidden`)
}

// costOf is how much of a processor the server takes while a page follows what happens: in each second something does to one family.
func costOf(b *browser, st state.State) float64 {
	b.Helper()
	b.until(`document.querySelector("#connection").dataset.connection === "live"`)

	began, used := time.Now(), processorTime(b.T)

	for i := range 6 {
		family := fmt.Sprintf("Family%02d", i)
		require.NoError(b, st.Create(b.Context(), &thing{resource.NewMetadata("shared", family+"s", "one", resource.VersionUndefined)}))
		b.until(fmt.Sprintf(`[...document.querySelectorAll("#controllers tr")].filter((row) =>
			row.dataset.key.includes(%q) && row.cells[2].textContent !== "").length === 20`, family))
		b.until(`[...document.querySelectorAll("#controllers tr")].every((row) => row.cells[2].textContent === "")`)
	}

	return (processorTime(b.T) - used).Seconds() / time.Since(began).Seconds()
}

// processorTime is what this process has taken of the processors.
func processorTime(t *testing.T) time.Duration {
	t.Helper()

	var usage syscall.Rusage

	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// serve serves the pages of an engine that runs until the test ends. While it is down, each request is refused.
func serve(t *testing.T, engine *runtime.Runtime, st state.State, down ...*atomic.Bool) *httptest.Server {
	t.Helper()

	handler := inspect.New(inspect.Config{Engine: engine, State: st, Title: "Test"})
	mux := http.NewServeMux()
	mux.Handle("/inspect/", http.StripPrefix("/inspect", handler))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(down) > 0 && down[0].Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
		} else {
			mux.ServeHTTP(w, r)
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)

	go func() { done <- engine.Run(ctx) }()

	t.Cleanup(func() {
		handler.Close()
		server.Close()
		cancel()
		require.NoError(t, <-done)
	})

	return server
}

// worker is one of many controllers, twenty to a family, which copies what its family shares into something of its own.
type worker struct{ number int }

func (w worker) family() string { return fmt.Sprintf("Family%02d", w.number/20) }

func (w worker) Name() string { return fmt.Sprintf("%sWorker%02d", w.family(), w.number%20) }

func (w worker) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: "shared", Type: w.family() + "s", Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: w.Name() + "s", Kind: controller.OutputExclusive}},
	}
}

func (w worker) Reconcile(ctx context.Context, _ *zap.Logger, rt controller.QRuntime, ptr resource.Pointer) error {
	out := &thing{md: resource.NewMetadata("own", w.Name()+"s", ptr.ID(), resource.VersionUndefined)}

	return rt.Modify(ctx, out, func(resource.Resource) error { return nil })
}

func (worker) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// thing is a resource of whichever type.
type thing struct{ md resource.Metadata }

func (r *thing) Metadata() *resource.Metadata { return &r.md }

func (r *thing) Spec() any { return struct{}{} }

func (r *thing) DeepCopy() resource.Resource { return &thing{r.md.Copy()} }
