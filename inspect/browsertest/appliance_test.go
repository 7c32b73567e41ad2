//go:build linux

package browsertest_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var screenshot = flag.String("screenshot", "", "a file to which the picture of the first page is written that the README shows")

// One looks at a running appliance: sees the graph, sees what becomes of a service that is killed, and asks why, back to the root.
func TestTheApplianceInABrowser(t *testing.T) {
	b := open(t)
	a := launch(t)

	b.do(chromedp.EmulateViewport(1760, 960), chromedp.Navigate(a.address+"inspect/"))
	b.until(`document.querySelector("#connection").dataset.connection === "live"`)
	b.until(`document.querySelectorAll("#picture .node.controller").length === document.querySelectorAll("#controllers tr").length`)
	b.until(`[...document.querySelectorAll("#controllers tr")].every((row) => row.className === "waiting")`)
	require.Greater(t, value[int](b, `document.querySelectorAll("#controllers tr").length`), 10)
	b.picture("appliance")

	// What its node has looked like, from now on, is written down.
	b.watch("ProcessController")
	a.kill("clock")
	b.until(`seen.some((classes) => / (active|running|backing-off) ?/.test(classes + " "))`)

	if *screenshot != "" {
		b.until(`document.getAnimations().length === 0`)
		b.capture(*screenshot)
	}

	b.until(`/ waiting$/.test(seen.at(-1))`)
	t.Log(value[[]string](b, `seen`))

	b.askWhy()
	b.schemes(a.address + "inspect/")
	b.keyboard(a.address + "inspect/")
	b.clean(strings.TrimSuffix(a.address, "/"))
}

// watch has the page write down what classes a node has.
func (b *browser) watch(controller string) {
	b.Helper()
	value[bool](b, fmt.Sprintf(`{
		const node = document.querySelector('#picture [data-controller=%q]');
		window.seen = [];
		new MutationObserver(() => seen.push(node.getAttribute("class"))).observe(node, { attributes: true, attributeFilter: ["class"] });
		true;
	}`, controller))
}

// askWhy goes from the first page to a controller, from there to why it has run, and from there to the root cause.
func (b *browser) askWhy() {
	b.Helper()
	b.follow(`#picture a[data-controller="ProcessController"]`)
	assert.Contains(b, value[string](b, `document.querySelector("h1").textContent`), "ProcessController")
	b.picture("controller")

	b.follow(`.actions a[href^="why?"]`)
	assert.Contains(b, value[string](b, `document.querySelector("h1").textContent`), "Why does ProcessController run?")
	b.picture("why")

	root := value[string](b, `document.querySelector(".roots li p").textContent`)
	b.Log("root cause: ", root)
	b.follow(`.roots li a`)
	assert.NotEmpty(b, value[string](b, `document.querySelector("h1 .subject").textContent`))
}

// follow clicks a link, and waits for the page to which it leads.
func (b *browser) follow(selector string) {
	b.Helper()

	to := value[string](b, fmt.Sprintf(`new URL(document.querySelector(%q).getAttribute("href"), location).href`, selector))

	value[bool](b, fmt.Sprintf(`document.querySelector(%q).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`, selector))
	b.arrived(to)
}

// arrived waits until a page is there.
func (b *browser) arrived(address string) {
	b.Helper()

	require.Eventually(b, func() bool {
		there, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](fmt.Sprintf(`location.href === %q && document.readyState === "complete"`, address)))

		return err == nil && there // the page may be on its way
	}, patience, 20*time.Millisecond, address)
}

// schemes checks that the page can be read in light and in dark.
func (b *browser) schemes(address string) {
	b.Helper()

	papers := map[string]string{}

	for _, scheme := range []string{"light", "dark"} {
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		require.NoError(b, err)

		for _, page := range []string{"", "passes", "findings", "controller?name=ProcessController", "why?controller=ProcessController"} {
			b.do(chromedp.Navigate(address + page))

			if page == "" {
				b.until(`document.querySelector("#picture svg")`)
				b.picture("appliance-" + scheme)
			}

			assert.Empty(b, value[[]string](b, contrast), "%s: %s", scheme, page)
		}

		papers[scheme] = value[string](b, `getComputedStyle(document.documentElement).backgroundColor`)
	}

	assert.NotEqual(b, papers["light"], papers["dark"])
}

// contrast lists the texts of a page that stand out from what is behind them less than WCAG asks for at level AA.
const contrast = `(() => {
	const rgb = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
	const luminance = (colour) => {
		const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const solid = (colour) => colour.length === 3 || colour[3] > 0;
	const behind = (element) => {
		for (let e = element; e; e = e.parentElement) {
			const shape = e.matches(".node") && e.querySelector(".shape");
			if (shape && !element.matches(".rate, .sign")) return rgb(getComputedStyle(shape).fill);
			if (e.matches("svg")) return rgb(getComputedStyle(e.querySelector(".background")).fill);
			const colour = rgb(getComputedStyle(e).backgroundColor);
			if (solid(colour)) return colour;
		}
	};
	const faint = [];
	for (const element of document.querySelectorAll("body *")) {
		const text = [...element.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
		if (!text || element.closest(".unseen, .skip, noscript, title, desc") || !element.checkVisibility()) continue;
		const style = getComputedStyle(element);
		const [a, b] = [rgb(element.closest("svg") ? style.fill : style.color), behind(element)].map(luminance);
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) faint.push(ratio.toFixed(2) + ": " + element.tagName + "." + element.getAttribute("class") + " " + element.textContent.trim().slice(0, 40));
	}
	return [...new Set(faint)];
})()`

// keyboard walks through the page with the keyboard alone.
func (b *browser) keyboard(address string) {
	b.Helper()
	b.do(chromedp.Navigate(address))
	b.until(`document.querySelector("#picture svg")`)

	b.do(chromedp.KeyEvent("\t"))
	assert.Equal(b, "skip", value[string](b, `document.activeElement.className`))

	b.do(chromedp.KeyEvent("/"))
	assert.Equal(b, "search", value[string](b, `document.activeElement.id`))

	// The browser driver sends the character in spite of the page, which has taken the key for itself.
	value[string](b, `document.activeElement.value = ""`)
	b.do(chromedp.KeyEvent("process"))
	b.until(`[...document.querySelectorAll("#controllers tr")].filter((row) => !row.hidden).length === 1`)
	b.until(`document.querySelector('#picture [data-controller="ProcessController"].found')`)
	b.do(chromedp.KeyEvent("\x1b"))
	b.until(`[...document.querySelectorAll("#controllers tr")].every((row) => !row.hidden)`)

	// All that can be done can be got to, and one sees where one is.
	stops := value[int](b, `[...document.querySelectorAll("a, button, input, summary, [tabindex='0']")].filter((e) => e.checkVisibility()).length`)
	value[bool](b, `document.activeElement.blur(); window.reached = new Set(); true`)

	for range stops + 5 {
		b.do(chromedp.KeyEvent("\t"))
		value[bool](b, `reached.add(document.activeElement); true`)
		assert.True(b, value[bool](b, `{
			const e = document.activeElement, style = getComputedStyle(e), shape = e.querySelector(":scope > .shape");
			e === document.body || style.outlineStyle !== "none" || (shape && getComputedStyle(shape).strokeWidth === "4px");
		}`), "where the focus is can not be seen: %s", value[string](b, `document.activeElement.outerHTML.slice(0, 200)`))
	}

	assert.Empty(b, value[[]string](b, `[...document.querySelectorAll("a, button, input, summary")]
		.filter((e) => e.checkVisibility() && !reached.has(e)).map((e) => e.outerHTML.slice(0, 120))`), "what the keyboard does not get to")

	value[bool](b, `document.querySelector('#picture [data-controller="FactsController"]').focus(); true`)
	b.do(chromedp.KeyEvent("\r"))
	b.arrived(address + "controller?name=FactsController")
}

// appliance is the example of the repository, as a process.
type appliance struct {
	*testing.T

	program, address string
}

// launch builds the appliance and starts it with the sample document.
func launch(t *testing.T) *appliance {
	t.Helper()

	dir, err := os.MkdirTemp("", "sy-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })

	a := &appliance{T: t, program: filepath.Join(dir, "example")}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", a.program, "../../cmd/example").CombinedOutput()
	require.NoError(t, err, string(out))

	logs := new(bytes.Buffer)
	cmd := exec.Command(a.program, "-root", filepath.Join(dir, "root"), "-http", "127.0.0.1:0", "-grpc", "unix:"+filepath.Join(dir, "state.sock"))
	cmd.Stderr = logs

	printed, err := os.Create(filepath.Join(dir, "out"))
	require.NoError(t, err)

	defer printed.Close()

	cmd.Stdout = printed

	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM))

		if err := cmd.Wait(); t.Failed() {
			t.Logf("the appliance has ended: %v\n%s", err, logs)
		}
	})

	require.Eventually(t, func() bool {
		text, err := os.ReadFile(printed.Name())
		require.NoError(t, err)

		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "http "); ok {
				a.address = strings.TrimSpace(rest)
			}
		}

		return a.address != "" && a.ready()
	}, patience, 50*time.Millisecond)

	return a
}

// ready tells whether the machine is as its document says.
func (a *appliance) ready() bool {
	answer, err := http.Get(a.address + "readyz")
	if err != nil {
		return false
	}

	assert.NoError(a, answer.Body.Close())

	return answer.StatusCode == http.StatusOK
}

// kill kills the process of a service.
func (a *appliance) kill(service string) {
	a.Helper()

	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(a, err)

	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || string(line) != a.program+"\x00service\x00"+service+"\x00" {
			continue
		}

		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		require.NoError(a, err)
		require.NoError(a, syscall.Kill(pid, syscall.SIGKILL))

		return
	}

	require.FailNow(a, "the service does not run", service)
}
