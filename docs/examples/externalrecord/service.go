package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// mostValue is the longest value that the service takes.
const mostValue = 64 << 10

// service is the service elsewhere: it keeps a value for each uid, as long as its process runs.
type service struct {
	http.Handler

	// fails has it answer that it is not there.
	fails atomic.Bool

	// mu guards values.
	mu     sync.Mutex
	values map[string]string
}

func newService() *service {
	s := &service{values: map[string]string{}}
	mux := http.NewServeMux()

	mux.HandleFunc("PUT /records/{uid}", s.put)
	mux.HandleFunc("DELETE /records/{uid}", s.remove)

	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if s.fails.Load() {
			http.Error(w, "come back later", http.StatusServiceUnavailable)

			return
		}

		mux.ServeHTTP(w, req)
	})

	return s
}

// records returns what the service keeps.
func (s *service) records() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.values)
}

func (s *service) put(w http.ResponseWriter, req *http.Request) {
	value, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostValue))

	switch _, long := errors.AsType[*http.MaxBytesError](err); {
	case long:
		http.Error(w, "the value is too long", http.StatusRequestEntityTooLarge)

		return
	case err != nil:
		http.Error(w, "the value has not arrived", http.StatusBadRequest)

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.values[req.PathValue("uid")] = string(value)

	w.WriteHeader(http.StatusNoContent)
}

func (s *service) remove(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()

	delete(s.values, req.PathValue("uid"))

	w.WriteHeader(http.StatusNoContent)
}

// serve has the service answer at a listener, and returns what ends it and waits for its goroutine.
func (s *service) serve(at net.Listener) (stop func(context.Context) error) {
	server := &http.Server{Handler: s, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan error, 1)

	go func() { ended <- server.Serve(at) }()

	return func(ctx context.Context) error {
		err := server.Shutdown(ctx)
		if err != nil {
			err = errors.Join(err, server.Close())
		}

		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}

		return err
	}
}
