package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/switchyard-run/switchyard/reconcile"
)

const (
	// answerTime is how long one request may take, with its answer.
	answerTime = 3 * time.Second
	// mostText is how much of what the service says of a failure is kept.
	mostText = 1 << 10
)

// client is a [Provider] that asks a service.
type client struct {
	base string // of the service, as "http://127.0.0.1:8080"
	http *http.Client
}

// newClient returns a client with connections of its own, which close closes.
func newClient(base string) *client {
	return &client{base, &http.Client{
		Timeout:   answerTime,
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// A redirect is not what the service is known to answer: it counts as a failure, and the value is not sent elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// Put implements [Provider].
func (c *client) Put(ctx context.Context, uid, value string) error {
	return c.call(ctx, http.MethodPut, uid, strings.NewReader(value))
}

// Delete implements [Provider]. A record that is not there is deleted.
func (c *client) Delete(ctx context.Context, uid string) error {
	err := c.call(ctx, http.MethodDelete, uid, nil)

	if failed, ok := errors.AsType[*ServiceError](err); ok && failed.Code == http.StatusNotFound {
		return nil
	}

	return err
}

func (c *client) call(ctx context.Context, method, uid string, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/records/"+url.PathEscape(uid), body)
	if err != nil {
		return reconcile.Terminal(err)
	}

	res, err := c.http.Do(req)
	if err != nil {
		return &UnreachableError{err}
	}
	defer res.Body.Close()

	// An answer that is short is read to its end, so that its connection can be used again.
	text, err := io.ReadAll(io.LimitReader(res.Body, mostText))

	switch {
	case res.StatusCode < 200 || res.StatusCode >= 300:
		return &ServiceError{Code: res.StatusCode, Text: strings.TrimSpace(string(text))}
	case err != nil:
		return &UnreachableError{err} // it may have been done, and is done again
	default:
		return nil
	}
}

// UnreachableError is a request that has got no whole answer.
type UnreachableError struct {
	// Err is why. It is for logs: addresses are in it.
	Err error
}

// Error tells why.
func (e *UnreachableError) Error() string { return "the service does not answer: " + e.Err.Error() }

// Unwrap returns why.
func (e *UnreachableError) Unwrap() error { return e.Err }

// Reason is the reason in the status.
func (e *UnreachableError) Reason() string { return "ServiceUnreachable" }

// Public is what the status says to people.
func (e *UnreachableError) Public() string { return "the service does not answer" }

// ServiceError is an answer of the service that says no.
type ServiceError struct {
	// Code is the status of the answer.
	Code int
	// Text is what the service says of it. It is for logs: nobody knows what is in it.
	Text string
}

// Error tells both.
func (e *ServiceError) Error() string {
	return fmt.Sprintf("the service answers %d: %q", e.Code, e.Text)
}

// Class implements [reconcile.Classified]: a value that the service does not take is not sent again before it is changed. All
// else may be mended at the service, where nobody tells of it: it is tried again.
func (e *ServiceError) Class() reconcile.Class {
	switch e.Code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return reconcile.ClassTerminal
	default:
		return reconcile.ClassTransient
	}
}

// Reason is the reason in the status.
func (e *ServiceError) Reason() string {
	if e.Class() == reconcile.ClassTerminal {
		return "ValueRefused"
	}

	return "ServiceFails"
}

// Public is what the status says to people.
func (e *ServiceError) Public() string {
	return fmt.Sprintf("the service answers %d %s", e.Code, http.StatusText(e.Code))
}
