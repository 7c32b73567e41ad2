package browsertest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
)

// A controller that begins to fail is seen to, in the list and in the picture, and so is that it has recovered.
func TestStatesAreFollowed(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{Passes: 32})
	require.NoError(t, err)

	broken := new(atomic.Bool)

	for _, s := range []step{
		{name: "Recorder", from: "Hosts", to: "Records"},
		{name: "Announcer", from: "Records", to: "Announcements", broken: broken},
		{name: "Speaker", from: "Announcements", to: "Sessions"},
		{name: hostile, from: "Records", to: "Zones " + hostile},
	} {
		require.NoError(t, engine.RegisterQController(s))
	}

	server := serve(t, engine, st)
	b := open(t)

	b.do(chromedp.Navigate(server.URL + "/inspect/"))
	b.until(`document.querySelector("#connection").dataset.connection === "live"`)
	b.until(`document.querySelector("#picture svg")`)

	broken.Store(true)
	require.NoError(t, st.Create(t.Context(), &thing{resource.NewMetadata("net", "Hosts", "web", resource.VersionUndefined)}))

	b.until(`document.querySelector('[data-controller="Announcer"].backing-off')`)
	b.until(`document.querySelector('tr.backing-off[data-key=\'"Announcer"\']')`)
	b.picture("failing")

	for _, page := range []string{
		"controller?name=Announcer", "pass?controller=Announcer&number=1", "passes", "findings", "why?controller=Announcer&number=1", "blocked?controller=Announcer",
		"resource?namespace=net&type=Records&id=web", "resources?namespace=net&type=Records", "resources?type=Records", "why?namespace=net&type=Records&id=web",
	} {
		if *pictures == "" {
			break
		}

		b.do(chromedp.Navigate(server.URL + "/inspect/" + page))
		b.picture("page-" + page)
	}

	b.do(chromedp.Navigate(server.URL + "/inspect/"))
	broken.Store(false)
	b.until(`document.querySelector('[data-controller="Announcer"]:not(.backing-off)')`)
	b.picture("recovered")

	// The page of a controller follows it as well, and is not loaded again for it.
	b.do(chromedp.Navigate(server.URL + "/inspect/controller?name=Announcer"))
	b.until(`document.querySelector("#connection").dataset.connection === "live"`)
	value[bool](b, `window.here = true`)
	broken.Store(true)
	require.NoError(t, st.Create(t.Context(), &thing{resource.NewMetadata("net", "Hosts", "mail", resource.VersionUndefined)}))
	b.until(`window.here && document.querySelector(".lead .state.backing-off")`)
	b.until(`[...document.querySelectorAll(".passes .failure")].some((e) => e.textContent.includes("the peer does not answer"))`)
	b.until(`[...document.querySelectorAll("time[data-until]")].some((e) => /^in \d+ s$|^now$/.test(e.textContent))`)

	// A connection that is lost is told of, and made again.
	value[bool](b, `window.told = new Set(); new MutationObserver(() => told.add(document.querySelector("#connection").textContent))
		.observe(document.querySelector("#connection"), { childList: true, attributes: true, characterData: true, subtree: true }); true`)
	server.CloseClientConnections()
	b.until(`told.has("Connection lost, trying again") && told.has("Live")`)

	b.mu.Lock()
	require.NotEmpty(t, b.faults, "Chromium complains of the connection")
	b.faults = nil
	b.mu.Unlock()

	b.clean(server.URL)
}

// What has changed while nobody could tell of it is seen when the stream is there again, also where one state is shown alone.
func TestWhatWasMissedIsSeen(t *testing.T) {
	st := state.WrapCore(namespaced.NewState(inmem.Build))
	engine, err := runtime.New(st, zap.NewNop(), runtime.Config{})
	require.NoError(t, err)

	for _, name := range []string{"First", "Second", "Third"} {
		require.NoError(t, engine.RegisterQController(step{name: name, from: "Hosts", to: name + "s"}))
	}

	down := new(atomic.Bool)
	server := serve(t, engine, st, down)
	b := open(t)

	const shown = `document.getElementById("count").textContent + ": " + [...document.querySelectorAll("#controllers tr")].filter((row) =>
		row.checkVisibility()).map((row) => row.querySelector("a").textContent).join(" ")`

	require.NoError(t, engine.Pause(t.Context(), "First"))
	b.do(chromedp.Navigate(server.URL + "/inspect/?state=paused"))
	b.until(`document.querySelector("#connection").dataset.connection === "live" && ` + shown + ` === "1 of 3: First"`)

	down.Store(true)
	server.CloseClientConnections()
	b.until(`document.querySelector("#connection").dataset.connection === "lost"`)
	require.NoError(t, engine.Resume("First"))
	require.NoError(t, engine.Pause(t.Context(), "Second"))
	require.NoError(t, engine.Pause(t.Context(), "Third"))
	down.Store(false)

	b.until(shown + ` === "2 of 3: Second Third"`)
}

const hostile = "a/b?c#d&e=f\"><script>alert('x')</script>\n\u202e../%2e%2e"

// step is a controller that makes a resource of each of another kind.
type step struct {
	name, from, to string
	broken         *atomic.Bool
}

func (s step) Name() string { return s.name }

func (s step) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: "net", Type: s.from, Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: s.to, Kind: controller.OutputExclusive}},
	}
}

func (s step) Reconcile(ctx context.Context, _ *zap.Logger, rt controller.QRuntime, ptr resource.Pointer) error {
	if s.broken != nil && s.broken.Load() {
		return errors.New("the peer does not answer")
	}

	out := &thing{resource.NewMetadata("net", s.to, ptr.ID(), resource.VersionUndefined)}

	return rt.Modify(ctx, out, func(resource.Resource) error { return nil })
}

func (step) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}
