package cli

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
)

func (s *session) completion() *cobra.Command {
	return &cobra.Command{
		Use: "completion (bash | zsh | fish)", Short: "Write a script that completes commands of swy in a shell",
		Long: `Writes a script for a shell, which completes commands, flags, types, ids and controllers: it asks the engine that SWY_GRPC and
SWY_HTTP lead to. Names that a shell would not take as they are, are left out.`,
		Example:   "  source <(swy completion bash)\n  swy completion zsh > \"${fpath[1]}/_swy\"\n  swy completion fish | source",
		Args:      between(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(command *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				if err := command.Root().GenBashCompletionV2(s.Stdout, false); err != nil {
					return err
				}

				_, err := s.Stdout.Write([]byte(withoutPackage))

				return err
			case "zsh":
				return command.Root().GenZshCompletion(s.Stdout)
			case "fish":
				return command.Root().GenFishCompletion(s.Stdout, true)
			default:
				return misused("there is no completion for %q: use bash, zsh or fish", args[0])
			}
		},
	}
}

// withoutPackage stands in for a function of the package bash-completion, where that is not installed.
const withoutPackage = `
if ! declare -F _get_comp_words_by_ref >/dev/null; then
    __swy_init_completion() {
        COMPREPLY=()
        words=("${COMP_WORDS[@]}")
        cword=$COMP_CWORD
        cur=${COMP_WORDS[COMP_CWORD]}
        prev=${COMP_WORDS[COMP_CWORD-1]}
    }
fi
`

// patience is how long a completion may take.
const patience = 3 * time.Second

// plain are names that every shell takes as they are.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./@%+][A-Za-z0-9_./@%+-]*$`)

// offered are those of several names that may be meant. Whether letters are small or capital does not matter where names are
// understood either way.
func offered(names []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var all []cobra.Completion

	for _, name := range names {
		if plain.MatchString(name) && strings.HasPrefix(name, begin) {
			all = append(all, name)
		}
	}

	return all, cobra.ShellCompDirectiveNoFileComp
}

// offer completes the values of a flag.
func offer(command *cobra.Command, flag string, values ...cobra.Completion) {
	if err := command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is ours
	}
}

// nothing is what is offered where nothing is known.
func nothing() ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeResource completes a type, and an id behind it, by the state API.
func (s *session) completeResource(ctx context.Context, args []string, namespace, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()

	st, closing, err := s.connect()
	if err != nil {
		return nothing()
	}

	defer closing()

	if len(args) == 0 {
		all, err := kinds.Load(ctx, st)
		if err != nil {
			return nothing()
		}

		return offered(all.Names(), strings.ToLower(begin))
	}

	kind, err := s.find(ctx, st, args[0], namespace)
	if err != nil || len(args) > 1 {
		return nothing()
	}

	list, err := st.List(ctx, pointer(kind, ""), state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
	if err != nil {
		return nothing()
	}

	var ids []string
	for _, r := range list.Items {
		ids = append(ids, r.Metadata().ID())
	}

	return offered(ids, begin)
}

// completeController completes the name of a controller.
func (s *session) completeController(ctx context.Context, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()

	c, err := s.engine()
	if err != nil {
		return nothing()
	}

	all, err := c.Controllers(ctx)
	if err != nil {
		return nothing()
	}

	var names []string
	for i := range all.Controllers {
		names = append(names, all.Controllers[i].Name)
	}

	return offered(names, begin)
}

// completeSubject completes what a question is about: a controller, or a type, and an id behind it, by package inspect alone.
func (s *session) completeSubject(ctx context.Context, args []string, namespace, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()

	c, err := s.engine()
	if err != nil || len(args) > 1 {
		return nothing()
	}

	if len(args) == 0 {
		all, directive := s.completeController(ctx, begin)

		if known, err := definitions(ctx, c, ""); err == nil {
			types, _ := offered(known.Names(), strings.ToLower(begin))
			all = append(all, types...)
		}

		return all, directive
	}

	kind, err := s.findRemote(ctx, c, args[0], namespace)
	if err != nil {
		return nothing()
	}

	list, err := c.Resources(ctx, kind.Namespace, kind.Type, 0)
	if err != nil {
		return nothing()
	}

	var ids []string
	for _, row := range list.Items {
		ids = append(ids, row.ID)
	}

	return offered(ids, begin)
}
