package client

import (
	"fmt"
	"net/http"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// Problem is an answer that says why there is none.
type Problem struct{ api.Problem }

// Error implements error.
func (p *Problem) Error() string { return p.Problem.String() }

// NotFound tells whether there is nothing of the name that was asked about.
func (p *Problem) NotFound() bool { return p.Status == http.StatusNotFound }

// UnauthorizedError is that the server wants a token, or another one.
type UnauthorizedError struct {
	// Address is where was asked, and Sent whether a token was.
	Address string
	Sent    bool
}

// Error implements error.
func (e *UnauthorizedError) Error() string {
	if e.Sent {
		return fmt.Sprintf("%s does not take the token: use the one of the file that the server was started with", e.Address)
	}

	return fmt.Sprintf("%s asks for a token: use the one of the file that the server was started with", e.Address)
}

// UnreachableError is that nobody answers, or not to the end.
type UnreachableError struct {
	Address string
	Err     error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s can not be reached: %s", e.Address, api.Printable(e.Err.Error()))
}

// Unwrap returns why.
func (e *UnreachableError) Unwrap() error { return e.Err }

// StrangerError is that somebody answers, and not as the handler does.
type StrangerError struct {
	Address string
	// Status and ContentType are those of the answer.
	Status      int
	ContentType string
}

// Error implements error.
func (e *StrangerError) Error() string {
	return fmt.Sprintf("%s does not answer as an engine that can be looked into (%d %s, %q): is the path right, as in %s?",
		e.Address, e.Status, http.StatusText(e.Status), e.ContentType, DefaultAddress)
}
