package cli

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/kinds"
	"github.com/switchyard-run/switchyard/cmd/swy/internal/selector"
	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
)

// getting is what is asked for.
type getting struct {
	*session

	namespace, format string
	selectors         []string
	watch, secrets    bool

	kind    kinds.Kind
	id      *resource.ID
	queries []resource.LabelQuery
}

func (s *session) get() *cobra.Command {
	g := &getting{session: s}

	command := &cobra.Command{
		Use:   "get TYPE [ID]",
		Short: "Show resources",
		Long: `Shows the resources of a type, or one of them. TYPE is the full name of the type, the part before its first dot, the
singular of that, or an alias.

A selector is a list of terms, with commas between them, that all have to hold; of several selectors one has to:

  key   !key   key=value   key!=value   key in (a, b)   key notin (a, b)   key<1   key<=1   key>1   key>=1

What a table shows of a type is what its definition says. YAML and JSON are streams of documents, JSON one in each line.
Contents of types that are marked as sensitive, or of which nobody can say whether they are, are not shown.`,
		Example: `  swy get services
  swy get servicestatus web -o yaml
  swy get process -l 'needs.appliance.switchyard.run/web' -w`,
		Args: between(1, 2),
		RunE: func(command *cobra.Command, args []string) error { return g.run(command.Context(), args) },
		ValidArgsFunction: func(command *cobra.Command, args []string, begin string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return s.completeResource(command.Context(), args, g.namespace, begin)
		},
	}

	flags := command.Flags()
	flags.StringVarP(&g.namespace, "namespace", "n", "", "`namespace` to look in (default that of the type)")
	flags.StringArrayVarP(&g.selectors, "selector", "l", nil, "only resources with labels that match the `selector`")
	flags.StringVarP(&g.format, "output", "o", "table", "how to show them: table, yaml or json")
	flags.BoolVarP(&g.watch, "watch", "w", false, "go on, and show what happens to them")
	flags.BoolVar(&g.secrets, "show-sensitive", false, "show contents in YAML and JSON although they are sensitive")
	offer(command, "output", "table", "yaml", "json")

	return command
}

// between takes so many arguments.
func between(least, most int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}

		return fmt.Errorf("swy %s: it does not take %d arguments", command.Use, len(args))
	}
}

// oneOf tells whether a value of a flag is one of those that there are.
func oneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}

	return misused("--%s: %q is none of %v", flag, value, values)
}

func (g *getting) run(ctx context.Context, args []string) error {
	if err := oneOf("output", g.format, "table", "yaml", "json"); err != nil {
		return err
	}

	for _, text := range g.selectors {
		query, err := selector.Parse(text)
		if err != nil {
			return fmt.Errorf("--selector: %w", err)
		}

		g.queries = append(g.queries, query)
	}

	st, closing, err := g.connect()
	if err != nil {
		return err
	}

	defer closing()

	asking, done := g.limited(ctx)
	defer done()

	if g.kind, err = g.find(asking, st, args[0], g.namespace); err != nil {
		return err
	}

	if len(args) > 1 {
		g.id = &args[1]
	}

	out, err := g.printer()
	if err != nil {
		return err
	}

	if g.watch {
		return g.follow(ctx, st, out)
	}

	return g.once(asking, st, out)
}

func (g *getting) printer() (*printer, error) {
	p := &printer{out: g.Stdout, format: g.format, watch: g.watch}

	if !g.secrets {
		p.secret = show.Secret(g.kind.Secret)
	}

	var err error
	if p.columns, err = show.NewColumns(g.kind.Columns); err != nil {
		return nil, &refusedError{what: err.Error(), do: "ask for -o yaml, and have the definition of the type mended"}
	}

	return p, nil
}

func (g *getting) once(ctx context.Context, st state.CoreState, out *printer) error {
	if g.id != nil && len(g.queries) == 0 {
		r, err := st.Get(ctx, pointer(g.kind, *g.id), state.WithGetUnmarshalOptions(state.WithSkipProtobufUnmarshal()))

		switch {
		case state.IsNotFoundError(err):
			return g.notFound(ctx, st)
		case err != nil:
			return g.stateError(ctx, err)
		default:
			return out.print("", r)
		}
	}

	opts := []state.ListOption{state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal())}

	if g.id != nil {
		opts = append(opts, state.WithIDQuery(resource.IDRegexpMatch(exactly(*g.id))))
	}

	for _, query := range g.queries {
		opts = append(opts, state.WithLabelQuery(resource.RawLabelQuery(query)))
	}

	list, err := st.List(ctx, pointer(g.kind, ""), opts...)
	if err != nil {
		return g.stateError(ctx, err)
	}

	slices.SortFunc(list.Items, func(a, b resource.Resource) int { return cmp.Compare(a.Metadata().ID(), b.Metadata().ID()) })

	if len(list.Items) == 0 {
		g.say("there is no resource of type %s in namespace %q%s", g.kind.Type, g.kind.Namespace, g.selected())
	}

	return out.print("", list.Items...)
}

func (g *getting) selected() string {
	if len(g.queries) == 0 {
		return ""
	}

	return " that the selector matches"
}

// exactly matches one id.
func exactly(id resource.ID) *regexp.Regexp {
	return regexp.MustCompile(`\A` + regexp.QuoteMeta(id) + `\z`)
}

// notFound says that there is no such resource, and what there is.
func (g *getting) notFound(ctx context.Context, st state.CoreState) error {
	return g.notThere(ctx, st, g.kind, *g.id)
}

func (s *session) notThere(ctx context.Context, st state.CoreState, kind kinds.Kind, id resource.ID) error {
	err := &refusedError{
		what: fmt.Sprintf("there is no %s in namespace %q with the id %q", kind.Type, kind.Namespace, id),
		do:   fmt.Sprintf("swy get %s -n %q shows those that there are", kind.Type, kind.Namespace),
	}

	list, failed := st.List(ctx, pointer(kind, ""), state.WithListUnmarshalOptions(state.WithSkipProtobufUnmarshal()))
	if failed != nil {
		return err
	}

	similar := kinds.Nearest(id, func(yield func([]string) bool) {
		for _, r := range list.Items {
			if !yield([]string{r.Metadata().ID()}) {
				return
			}
		}
	})

	for i, name := range similar {
		err.what += map[bool]string{true: "; there is", false: ","}[i == 0] + fmt.Sprintf(" %q", name)
	}

	return err
}
