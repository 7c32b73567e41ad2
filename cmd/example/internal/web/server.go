package web

import (
	"context"
	"errors"
	"net"
	"net/http"

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
