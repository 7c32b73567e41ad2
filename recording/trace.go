package recording

import (
	"context"
	"encoding/json"

	"github.com/cosi-project/runtime/pkg/resource"
)

// trace is what a pass leaves: in a live engine it is written down, in a replay it is followed. What a controller gets as
// its runtime, its clock and so on is the same in both, and does all through its trace.
type trace interface {
	// ask answers a request: live by doing it, in a replay out of the recording.
	ask(ctx context.Context, req question, do func(context.Context) reply) reply
	// modify is ask for a request that brings a function.
	modify(ctx context.Context, req question, update update, do func(context.Context, update) reply) reply
	// teardown is ask for a request that is answered with a context.
	teardown(ctx context.Context, req question, do func(context.Context) (context.Context, error)) (context.Context, error)
	// failed tells that something can not be recorded or replayed.
	failed(err error)
	// keep takes in a timer that a request has made.
	keep(t *timer)
}

// update is a function that is handed to Modify.
type update func(resource.Resource) error

// question is a request before it is written down.
type question struct {
	verb string
	of   name
	with string
	// writes is the resource that is to be written, or made by Modify.
	writes resource.Resource
}

// reply is an answer before it is written down.
type reply struct {
	resources []resource.Resource
	ok        bool
	value     json.RawMessage
	err       error

	// number is that of the call.
	number int
}

// one returns the resource of a reply that has one.
func (r reply) one() (resource.Resource, error) {
	if r.err != nil || len(r.resources) == 0 {
		return nil, r.err
	}

	return r.resources[0], nil
}

func replyWith(res resource.Resource, err error) reply {
	if err != nil {
		return reply{err: err}
	}

	return reply{resources: []resource.Resource{res}}
}

func replyWithList(list resource.List, err error) reply {
	return reply{resources: list.Items, err: err}
}

func replyWithError(err error) reply { return reply{err: err} }

// traceKey finds the trace in a context.
type traceKey struct{}

func withTrace(ctx context.Context, t trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// traceOf returns the trace of the pass or Run whose context it is; nil if nobody records.
func traceOf(ctx context.Context) trace {
	t, _ := ctx.Value(traceKey{}).(trace)

	return t
}
