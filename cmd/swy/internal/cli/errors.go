package cli

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
	"github.com/switchyard-run/switchyard/cmd/swy/internal/selector"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// Exit codes.
const (
	exitOK          = 0
	exitRefused     = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// usageError is that the program was not called as it should be.
type usageError struct{ error }

// Unwrap returns what is wrong.
func (e *usageError) Unwrap() error { return e.error }

func misused(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// refusedError is an answer that is none, with what to do about it.
type refusedError struct {
	what, do string
}

// Error implements error.
func (e *refusedError) Error() string { return e.what }

// unreachableError is that nobody answers.
type unreachableError struct {
	what, do string
}

// Error implements error.
func (e *unreachableError) Error() string { return e.what }

func codeOf(err error) int {
	var (
		usage       *usageError
		ambiguous   *kinds.AmbiguousError
		mistake     *selector.Error
		unreachable *unreachableError
		silent      *client.UnreachableError
		stranger    *client.StrangerError
	)

	switch {
	case errors.As(err, &usage), errors.As(err, &ambiguous), errors.As(err, &mistake):
		return exitUsage
	case errors.As(err, &unreachable), errors.As(err, &silent), errors.As(err, &stranger):
		return exitUnreachable
	default:
		return exitRefused
	}
}

// explain is what is told of an error, in lines: what is wrong, and what to do.
func explain(err error) string {
	var (
		b           strings.Builder
		refused     *refusedError
		unreachable *unreachableError
		silent      *client.UnreachableError
		denied      *client.UnauthorizedError
		usage       *usageError
		mistake     *selector.Error
		stranger    *client.StrangerError
		problem     *client.Problem
	)

	what, do := err.Error(), ""

	switch {
	case errors.As(err, &problem):
		what, do = problem.Problem.Error, problem.Do
	case errors.As(err, &refused):
		do = refused.do
	case errors.As(err, &unreachable):
		do = unreachable.do
	case errors.As(err, &silent):
		do = "start the host with -http, or say where it is with --http or SWY_HTTP, as " + client.DefaultAddress
	case errors.As(err, &denied):
		do = "name the file with --token-file or SWY_TOKEN_FILE"
	case errors.As(err, &stranger):
		do = "say where it is with --http or SWY_HTTP; an appliance prints it when it is started"
	case errors.As(err, &mistake):
		do = "swy get --help says what a selector is"
	case errors.As(err, &usage):
		do = "swy --help, and swy COMMAND --help, say what there is"
	}

	fmt.Fprintf(&b, "swy: %s\n", api.Printable(what))

	if do != "" {
		fmt.Fprintf(&b, "  → %s\n", api.Printable(do))
	}

	return b.String()
}

// prefix is what the library puts before what the other side says.
var prefix = regexp.MustCompile(`rpc error: code = \w+ desc = `)

// stateError tells what an error of the state API means.
func (s *session) stateError(ctx context.Context, err error) error {
	switch code := status.Code(err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case code == codes.Unavailable || code == codes.Unimplemented:
		return &unreachableError{
			what: fmt.Sprintf("the state API does not answer at %s: %s", s.grpc, said(err)),
			do:   fmt.Sprintf("start the host with -grpc %s, or say where it is with --grpc or SWY_GRPC", s.grpc),
		}
	case code == codes.PermissionDenied:
		return &refusedError{what: said(err), do: "what may be written is for the host to say; swy apply may be allowed more, or less"}
	default:
		return &refusedError{what: said(err)}
	}
}

// said is what the other side has said.
func said(err error) string { return prefix.ReplaceAllString(err.Error(), "") }
