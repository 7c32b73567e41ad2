package browsertest_test

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var pictures = flag.String("pictures", "", "a directory to which pictures of the pages are written")

// patience is how long anything may take before a test fails.
const patience = 60 * time.Second

// browser is one with a single page, and what it has complained of.
type browser struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex // guards what follows
	faults   []string
	requests []string
}

// open opens a browser. Without one there is nothing to test.
func open(t *testing.T) *browser {
	t.Helper()

	program := ""

	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found

			break
		}
	}

	if program == "" {
		t.Skip("there is no chromium on this machine: install it to see the pages tested (apt-get install chromium)")
	}

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1440, 900), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-gpu", true))

	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	t.Cleanup(cancel)

	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)

	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)

	b := &browser{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))

	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)

	_, err = chromedp.Call(ctx, log.Enable, cdp.Empty{})
	require.NoError(t, err)

	_, err = chromedp.Call(ctx, runtime.Enable, cdp.Empty{})
	require.NoError(t, err)

	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch event := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, fmt.Sprintf("%+v", event.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, fmt.Sprint(event.Type, ": ", event.Args))
	case *log.EventEntryAdded:
		b.faults = append(b.faults, event.Entry.Text+" "+event.Entry.URL)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, event.Request.URL)
	}
}

// do does something on the page.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()

	require.NoError(b, chromedp.Do(ctx, actions...))
}

// got is what an action on the page has returned.
func got[T any](b *browser, action chromedp.Action[T]) T {
	b.Helper()

	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()

	v, err := chromedp.Run(ctx, action)
	require.NoError(b, err)

	return v
}

// value evaluates an expression of the page.
func value[T any](b *browser, expression string) T {
	b.Helper()

	return got(b, chromedp.Evaluate[T](expression))
}

// until waits for an expression of the page to hold.
func (b *browser) until(expression string) {
	b.Helper()
	got(b, chromedp.Poll[bool]("Boolean("+expression+")", chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// picture keeps what the page looks like, if it is wanted.
func (b *browser) picture(name string) {
	b.Helper()

	if *pictures == "" {
		return
	}

	b.capture(filepath.Join(*pictures, url.QueryEscape(name)+".png"))
}

// capture writes what the page looks like to a file.
func (b *browser) capture(file string) {
	b.Helper()
	require.NoError(b, os.WriteFile(file, got(b, chromedp.CaptureScreenshot()), 0o644))
}

// clean checks that the page has neither complained nor asked anybody but its own server.
func (b *browser) clean(origin string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()

	require.Empty(b, b.faults)

	for _, request := range b.requests {
		u, err := url.Parse(request)
		require.NoError(b, err)

		if u.Scheme != "about" {
			require.True(b, strings.HasPrefix(request, origin+"/"), "the page has asked for %s", request)
		}
	}
}
