// Package services owns the sample services: small programs that the sample document runs, so that nothing has to be
// installed to see the appliance at work. They are ordinary programs that know nothing of the control plane; all they
// need is in their environment.
//
// Each service runs in the calling goroutine and has, besides, the goroutines of one HTTP server; all have ended when
// Run returns.
package services

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Service is one of the samples. It runs until the context ends or, for one that does its work once, until it is
// done. It logs to out.
type Service func(ctx context.Context, getenv func(string) string, out io.Writer) error

// all are the samples by name.
var all = map[string]Service{
	"prepare": prepare,
	"web":     web,
	"clock":   clock,
	"sidecar": sidecar,
}

// Names lists the samples, sorted.
func Names() []string {
	return slices.Sorted(maps.Keys(all))
}

// Run runs a sample by name.
func Run(ctx context.Context, name string, getenv func(string) string, out io.Writer) error {
	service, ok := all[name]
	if !ok {
		return fmt.Errorf("there is no sample service %q; there are %s", name, strings.Join(Names(), ", "))
	}

	return service(ctx, getenv, out)
}

// page is where prepare leaves the page that web shows, below the root.
const page = "srv/www/index.html"

// prepare makes the page that web shows, and is done.
func prepare(_ context.Context, getenv func(string) string, out io.Writer) error {
	root, err := os.OpenRoot(getenv("ROOT"))
	if err != nil {
		return err
	}
	defer root.Close()

	if err := root.MkdirAll(filepath.Dir(page), 0o755); err != nil {
		return err
	}

	if err := root.WriteFile(page, []byte("<!doctype html><title>It works</title><p>It works.\n"), 0o644); err != nil {
		return err
	}

	fmt.Fprintln(out, "the page is ready")

	return nil
}

// web shows the page, and how it was asked to greet.
func web(ctx context.Context, getenv func(string) string, out io.Writer) error {
	file := filepath.Join(getenv("ROOT"), filepath.FromSlash(page))

	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("the page is not ready: %w", err)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	mux.HandleFunc("GET /greeting", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, getenv("GREETING"))
	})
	mux.HandleFunc("GET /healthz", healthy)

	return serve(ctx, getenv, out, mux)
}

// clock tells the time.
func clock(ctx context.Context, getenv func(string) string, out io.Writer) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /now", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, time.Now().UTC().Format(time.RFC3339))
	})
	mux.HandleFunc("GET /healthz", healthy)

	return serve(ctx, getenv, out, mux)
}

// sidecar looks after two others, and is as well as they are.
func sidecar(ctx context.Context, getenv func(string) string, out io.Writer) error {
	var trouble atomic.Value

	trouble.Store("has not looked yet")

	look := func() {
		for _, url := range []string{"http://" + getenv("WEB_ADDR") + "/healthz", "http://" + getenv("CLOCK_ADDR") + "/now"} {
			if err := get(ctx, url); err != nil {
				trouble.Store(err.Error())

				return
			}
		}

		trouble.Store("")
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		if text, _ := trouble.Load().(string); text != "" {
			http.Error(w, text, http.StatusServiceUnavailable)

			return
		}

		healthy(w, r)
	})

	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})

	go func() { // ends with the context, and is waited for below
		defer close(done)

		cancel(serve(ctx, getenv, out, mux))
	}()

	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()

	for {
		look()

		select {
		case <-ticker.C:
		case <-ctx.Done():
			<-done

			if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
				return err
			}

			return nil
		}
	}
}

func get(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}

	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()

	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}

	return nil
}

func healthy(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintln(w, "ok")
}

// serve answers at the address of the service until the context ends.
func serve(ctx context.Context, getenv func(string) string, out io.Writer, handler http.Handler) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", getenv("ADDR"))
	if err != nil {
		return err
	}

	fmt.Fprintf(out, "listening at %s\n", listener.Addr())

	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	stopped := make(chan error, 1)

	stop := context.AfterFunc(ctx, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()

		stopped <- server.Shutdown(limit)
	})

	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		stop()

		return err
	}

	fmt.Fprintln(out, "asked to stop")

	return <-stopped
}
