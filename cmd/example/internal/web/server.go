package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// Server answers requests on one listener.
type Server struct {
	inner *http.Server
	// done is closed when the goroutine that accepts connections has ended.
	done chan struct{}
}

// Serve starts to answer requests, and takes the listener over.
func Serve(listener net.Listener, handler http.Handler, logger *zap.Logger) *Server {
	if addr, ok := listener.Addr().(*net.TCPAddr); ok && addr.IP.IsLoopback() {
		handler = onlyLocalNames(handler)
	}

	s := &Server{
		inner: &http.Server{
			Handler:           handler,
			ReadHeaderTimeout: headerLimit,
			ReadTimeout:       readLimit,
			WriteTimeout:      writeLimit,
			IdleTimeout:       idleLimit,
			ErrorLog:          zap.NewStdLog(logger),
		},
		done: make(chan struct{}),
	}

	go func() { // ends with Stop
		defer close(s.done)

		if err := s.inner.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("pages are no longer served", zap.Error(err))
		}
	}()

	return s
}

// Stop lets requests that are being answered end, for a short while, and closes the listener and all connections. A
// nil server has nothing to stop.
func (s *Server) Stop() error {
	if s == nil {
		return nil
	}

	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()

	err := s.inner.Shutdown(ctx)
	if ctx.Err() != nil {
		err = s.inner.Close() // clients that are slow or silent do not matter that much
	}

	<-s.done

	return err
}

// onlyLocalNames refuses requests for the name of another host. A page from elsewhere whose name was made to lead to
// this machine could read these pages otherwise. An address in the place of a name is none that anybody has chosen.
func onlyLocalNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := (&url.URL{Host: r.Host}).Hostname()
		_, err := netip.ParseAddr(name)

		if err != nil && name != "" && name != "localhost" && !strings.HasSuffix(name, ".localhost") {
			http.Error(w, "these pages are for this machine alone; ask for them at localhost", http.StatusForbidden)

			return
		}

		next.ServeHTTP(w, r)
	})
}
