package apply

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// step is what is to be done for a document.
type step struct {
	*document

	result Result
	// status is the one of HTTP if it is refused.
	status int
	// update is the resource that is to be written; with nil, the document is to be created if that is the outcome.
	update resource.Resource
}

func (s *step) refuse(status int, reason, do string) {
	s.status = status
	s.result.Outcome, s.result.Reason, s.result.Do = Refused, reason, do
}

// plan looks at everything that is to be written, and at what is there.
func (h *handler) plan(ctx context.Context, documents []*document) []*step {
	steps := make([]*step, 0, len(documents))

	for _, d := range documents {
		s := &step{document: d, result: Result{Document: d.number, Resource: d.ref(), Outcome: NotTried}}
		h.decide(ctx, s)
		steps = append(steps, s)
	}

	return steps
}

// decide finds out what is to be done for one document.
func (h *handler) decide(ctx context.Context, s *step) {
	md := s.res.Metadata()

	current, err := h.cfg.State.Get(ctx, md)

	switch {
	case state.IsNotFoundError(err):
		h.decideNew(ctx, s)
	case err != nil:
		s.fail(err)
	default:
		h.decideKnown(ctx, s, current)
	}
}

func (h *handler) decideNew(ctx context.Context, s *step) {
	md := s.res.Metadata()

	switch {
	case !h.allowed(ctx, s, state.Create):
	case s.document.version:
		s.refuse(http.StatusConflict, fmt.Sprintf("version %s is not there: the resource does not exist", md.Version()), "leave the version out to create it")
	case !md.Finalizers().Empty():
		s.refuse(http.StatusConflict, "it would be created with finalizers, which nobody would remove", "leave the finalizers out")
	}
}

func (h *handler) decideKnown(ctx context.Context, s *step, current resource.Resource) {
	md, now := s.res.Metadata(), current.Metadata()

	if !h.allowed(ctx, s, state.Update) {
		return // nor does who may not write it hear whether it is what he has sent
	}

	s.result.Version = now.Version().String()

	switch {
	case now.Owner() != "":
		s.refuse(http.StatusConflict, "it belongs to "+now.Owner(), "change what that controller makes it from")

		return
	case s.document.version && !md.Version().Equal(now.Version()):
		s.refuse(http.StatusConflict, fmt.Sprintf("it is at version %s, not %s", now.Version(), md.Version()), "look at what has changed, or leave the version out")

		return
	case now.Phase() != resource.PhaseRunning:
		s.refuse(http.StatusConflict, "it is in teardown", "wait until it is gone, then apply again")

		return
	}

	wanted := s.res.DeepCopy()
	merged := now.Copy()

	if s.labels {
		*merged.Labels() = *md.Labels()
	}

	if s.annotations {
		*merged.Annotations() = *md.Annotations()
	}

	*wanted.Metadata() = merged

	if same(current, wanted) {
		s.result.Outcome = Unchanged

		return
	}

	s.update = wanted
}

// same tells whether two resources are the same. Specs that can not be compared are not.
func same(a, b resource.Resource) (equal bool) {
	defer func() {
		if recover() != nil {
			equal = false
		}
	}()

	return reflect.TypeOf(a.Spec()) == reflect.TypeOf(b.Spec()) && resource.Equal(a, b)
}

// allowed tells whether the host lets a resource be written. Its rule may speak the language of the state API.
func (h *handler) allowed(ctx context.Context, s *step, verb state.Verb) bool {
	ref := s.result.Resource

	err := h.cfg.Allow(ctx, state.Access{ResourceNamespace: ref.Namespace, ResourceType: ref.Type, ResourceID: ref.ID, Verb: verb})
	if err != nil {
		s.refuse(http.StatusForbidden, status.Convert(err).Message(), "")
	}

	return err == nil
}

// fail refuses because of an error of the state, which may speak the language of the state API.
func (s *step) fail(err error) {
	code, reason := http.StatusInternalServerError, err.Error()

	if st, ok := status.FromError(err); ok {
		reason = st.Message()

		switch st.Code() {
		case codes.PermissionDenied:
			code = http.StatusForbidden
		case codes.InvalidArgument:
			code = http.StatusUnprocessableEntity
		}
	}

	if state.IsConflictError(err) || state.IsNotFoundError(err) {
		s.refuse(http.StatusConflict, reason, "somebody else was faster: look at what has changed, then apply again")

		return
	}

	s.refuse(code, reason, "")
}
