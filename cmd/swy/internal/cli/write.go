package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
	"github.com/switchyard-run/switchyard/inspect/api"
)

func (s *session) teardown() *cobra.Command {
	return s.writing("teardown TYPE ID", "Ask for a resource to go",
		`Puts a resource into teardown. Controllers that hold it by a finalizer let go of it when they are done with it; then it can be
destroyed, by swy destroy if by nobody else. What belongs to a controller is for that controller to take away.`,
		func(ctx context.Context, st state.State, kind kinds.Kind, id resource.ID) (string, error) {
			ready, err := st.Teardown(ctx, pointer(kind, id))
			if err != nil || ready {
				return "is in teardown, and nobody holds it: swy destroy takes it away", err
			}

			return "is in teardown, and is held: swy blocked says by whom", nil
		})
}

func (s *session) destroy() *cobra.Command {
	return s.writing("destroy TYPE ID", "Take a resource away that nobody holds",
		`Destroys a resource that has no finalizer. One that has is refused: swy teardown asks those who hold it to let go.`,
		func(ctx context.Context, st state.State, kind kinds.Kind, id resource.ID) (string, error) {
			return "is destroyed", st.Destroy(ctx, pointer(kind, id))
		})
}

// writing is a command that does something to one resource.
func (s *session) writing(use, short, long string, do func(context.Context, state.State, kinds.Kind, resource.ID) (string, error)) *cobra.Command {
	var namespace string

	name, _, _ := strings.Cut(use, " ")

	command := &cobra.Command{
		Use: use, Short: short, Long: long, Args: between(2, 2),
		Example: fmt.Sprintf("  swy %s restartrequest web", name),
		RunE: func(command *cobra.Command, args []string) error {
			ctx, done := s.limited(command.Context())
			defer done()

			adapter, closing, err := s.connect()
			if err != nil {
				return err
			}

			defer closing()

			kind, err := s.find(ctx, adapter, args[0], namespace)
			if err != nil {
				return err
			}

			said, err := do(ctx, state.WrapCore(adapter), kind, args[1])
			if err != nil {
				return s.writeError(ctx, adapter, kind, args[1], err)
			}

			ref := api.Ref{Namespace: kind.Namespace, Type: kind.Type, ID: args[1]}

			fmt.Fprintf(s.Stdout, "%s %s\n", api.Printable(ref.String()), said)

			return nil
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.completeResource(command.Context(), args, namespace, begin)
		},
	}

	command.Flags().StringVarP(&namespace, "namespace", "n", "", "`namespace` of the resource (default that of the type)")

	return command
}

// writeError tells why a resource was not written: the state API does not tell apart who may not write at all, and whose
// resource it is.
func (s *session) writeError(ctx context.Context, st state.CoreState, kind kinds.Kind, id resource.ID, err error) error {
	if state.IsNotFoundError(err) {
		return s.notThere(ctx, st, kind, id)
	}

	told := s.stateError(ctx, err)

	if refused := (*refusedError)(nil); !errors.As(told, &refused) {
		return told
	}

	r, failed := st.Get(ctx, pointer(kind, id), state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal()))

	switch {
	case state.IsNotFoundError(failed):
		return s.notThere(ctx, st, kind, id)
	case failed != nil:
		return told
	case r.Metadata().Owner() != "":
		return &refusedError{
			what: fmt.Sprintf("it belongs to %s: %s", r.Metadata().Owner(), said(err)), do: "change what that controller makes it from",
		}
	case !r.Metadata().Finalizers().Empty():
		return &refusedError{
			what: fmt.Sprintf("it is held by %s: %s", strings.Join(*r.Metadata().Finalizers(), ", "), said(err)),
			do:   "swy teardown asks them to let go, and swy blocked says what they wait for",
		}
	default:
		return told
	}
}
