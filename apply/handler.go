package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/guard"
)

// Config is what a handler is made of. State is needed.
type Config struct {
	// State is where resources are read and written.
	State state.CoreState
	// Allow says which resources may be created and updated, as for [state.Filter]. It is asked before anything is written, and before
	// anything is said of what is there. The default is that all may be that have no owner.
	Allow state.FilteringRule
	// Hosts are names, beside local ones and addresses, that requests may be for.
	Hosts []string
	// MaxBytes is how long a request may be. The default is 1 MiB.
	MaxBytes int64
	// Logger is told what was written. The default is a silent one.
	Logger *zap.Logger
}

// writeLimit is how long the writes of a request may take. They go on if who has asked does not wait for the answer.
const writeLimit = time.Minute

type handler struct{ cfg Config }

// New returns the handler. It answers at whatever path it is mounted.
func New(cfg Config) http.Handler {
	if cfg.Allow == nil {
		cfg.Allow = func(context.Context, state.Access) error { return nil }
	}

	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = 1 << 20
	}

	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	}

	return guard.New(guard.Config{
		Methods: []string{http.MethodPost},
		Hosts:   cfg.Hosts,
		Refuse: func(w http.ResponseWriter, _ *http.Request, refusal guard.Refusal) {
			send(w, &Report{Status: refusal.Status, Error: refusal.Reason, Do: refusal.Do})
		},
		Logger: cfg.Logger,
	}, &handler{cfg})
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { send(w, h.apply(w, r)) }

func (h *handler) apply(w http.ResponseWriter, r *http.Request) *Report {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != ContentType {
		return &Report{
			Status: http.StatusUnsupportedMediaType, Error: fmt.Sprintf("the content type is %q", r.Header.Get("Content-Type")),
			Do: "send YAML, with Content-Type: " + ContentType,
		}
	}

	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.cfg.MaxBytes))

	var tooLarge *http.MaxBytesError

	switch {
	case errors.As(err, &tooLarge):
		return &Report{
			Status: http.StatusRequestEntityTooLarge, Error: fmt.Sprintf("the documents have more than %d bytes", tooLarge.Limit),
			Do: "send them in parts",
		}
	case err != nil:
		return &Report{Status: http.StatusBadRequest, Error: "the documents have not come whole: " + err.Error(), Do: "send them again"}
	}

	documents, faults := read(text)
	if len(faults) > 0 {
		return &Report{
			Status: http.StatusBadRequest, Error: fmt.Sprintf("nothing was written: %s", faulty(len(faults))),
			Do: "mend what is wrong, and apply again", Faults: faults,
		}
	}

	steps := h.plan(r.Context(), documents)

	for _, s := range steps {
		if s.result.Outcome == Refused {
			return reportOf(steps, s.status, "nothing was written")
		}
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), writeLimit)
	defer cancel()

	return h.write(ctx, steps)
}

func faulty(n int) string {
	switch {
	case n == 1:
		return "there is a fault in the documents"
	case n > mostFaults:
		return fmt.Sprintf("there are more than %d faults in the documents", mostFaults)
	}

	return fmt.Sprintf("there are %d faults in the documents", n)
}

// write does what was planned, one step after the other, and stops at the first that fails.
func (h *handler) write(ctx context.Context, steps []*step) *Report {
	written := 0

	for _, s := range steps {
		if s.result.Outcome == Unchanged {
			continue
		}

		if err := h.writeOne(ctx, s); err != nil {
			s.fail(err)
			h.cfg.Logger.Warn("a resource can not be applied", zap.Stringer("resource", s.result.Resource), zap.Error(err))

			return reportOf(steps, s.status, fmt.Sprintf("not all was written: %d of %d", written, len(steps)))
		}

		written++

		h.cfg.Logger.Info("a resource was applied", zap.Stringer("resource", s.result.Resource),
			zap.String("outcome", string(s.result.Outcome)), zap.String("version", s.result.Version))
	}

	return reportOf(steps, http.StatusOK, "")
}

func (h *handler) writeOne(ctx context.Context, s *step) error {
	if s.update == nil {
		if err := h.cfg.State.Create(ctx, s.res); err != nil {
			return err
		}

		s.result.Outcome, s.result.Version = Created, s.res.Metadata().Version().String()

		return nil
	}

	if err := h.cfg.State.Update(ctx, s.update); err != nil {
		return err
	}

	s.result.Outcome, s.result.Version = Configured, s.update.Metadata().Version().String()

	return nil
}

func reportOf(steps []*step, status int, message string) *Report {
	report := &Report{Status: status, Error: message}

	for _, s := range steps {
		report.Results = append(report.Results, s.result)
	}

	return report
}

func send(w http.ResponseWriter, report *Report) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(report.Status)

	_ = json.NewEncoder(w).Encode(report) // a client that has gone is no concern of the answer
}
