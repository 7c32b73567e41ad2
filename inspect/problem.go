package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/guard"
	"github.com/switchyard-run/switchyard/inspect/live"
)

func problemOf(status int, what, do string) *api.Problem {
	return &api.Problem{Status: status, Error: what, Do: do}
}

// problem tells what an error means to who has asked.
func (h *Handler) problem(r *http.Request, err error) *api.Problem {
	var (
		unknown *answer.NotFoundError
		wrong   *parameterError
		known   *problemError
	)

	switch {
	case errors.As(err, &unknown):
		return problemOf(http.StatusNotFound, unknown.Error(), unknown.Do)
	case errors.As(err, &wrong):
		return problemOf(http.StatusBadRequest, wrong.Error(), wrong.do)
	case errors.As(err, &known):
		return known.problem
	case errors.Is(err, live.ErrCrowded):
		return problemOf(http.StatusServiceUnavailable, err.Error(), "close pages that nobody looks at, and try again")
	case errors.Is(err, live.ErrClosed):
		return problemOf(http.StatusServiceUnavailable, err.Error(), "ask again when the host runs")
	case r.Context().Err() != nil:
		return problemOf(http.StatusServiceUnavailable, "who has asked does not wait any more: "+context.Cause(r.Context()).Error(), "")
	default:
		h.cfg.Logger.Warn("a question has no answer", zap.String("path", r.URL.Path), zap.Error(err))

		return problemOf(http.StatusInternalServerError, err.Error(), "the log of the host may say more")
	}
}

// problemError is an error that knows how it is told.
type problemError struct{ problem *api.Problem }

// Error implements error.
func (e *problemError) Error() string { return e.problem.Error }

// refuse tells why a request gets no answer.
func refuse(w http.ResponseWriter, r *http.Request, refusal guard.Refusal) {
	sendProblem(w, r, problemOf(refusal.Status, refusal.Reason, refusal.Do))
}

// sendProblem answers with a problem: as a document below the API, and as a line of text elsewhere.
func sendProblem(w http.ResponseWriter, r *http.Request, problem *api.Problem) {
	if isPage(r) {
		http.Error(w, problem.String(), problem.Status)
	} else {
		send(w, problem.Status, problem)
	}
}

// send answers with a document. What browsers may take for markup is escaped.
func send(w http.ResponseWriter, status int, document any) {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // documents are plain data
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)

	_, _ = w.Write(append(text, '\n')) // a client that has gone is no concern of the answer
}
