package recording

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/owned"

	"github.com/switchyard-run/switchyard/cache"
	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/stateadapter"
)

var (
	_ controller.QRuntime                = (*access)(nil)
	_ stateadapter.Viewer                = (*access)(nil)
	_ stateadapter.Barrierer             = (*access)(nil)
	_ stateadapter.RunningFinalizerAdder = (*access)(nil)
)

// access is what a controller sees of the state while it is recorded or replayed: what the contract offers, and what this
// engine offers beyond it.
type access struct {
	trace

	// inner is what the engine has handed to the controller; nil in a replay.
	inner controller.QRuntime
}

// Get implements [controller.Reader].
func (a *access) Get(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	return a.ask(ctx, question{verb: "get", of: nameOf(ptr), with: getOptions(opts)}, func(ctx context.Context) reply {
		return replyWith(a.inner.Get(ctx, ptr, opts...))
	}).one()
}

// GetUncached implements [controller.UncachedReader].
func (a *access) GetUncached(ctx context.Context, ptr resource.Pointer, opts ...state.GetOption) (resource.Resource, error) {
	return a.ask(ctx, question{verb: "get uncached", of: nameOf(ptr), with: getOptions(opts)}, func(ctx context.Context) reply {
		return replyWith(a.inner.GetUncached(ctx, ptr, opts...))
	}).one()
}

// List implements [controller.Reader].
func (a *access) List(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	r := a.ask(ctx, question{verb: "list", of: nameOfKind(kind), with: listOptions(opts)}, func(ctx context.Context) reply {
		return replyWithList(a.inner.List(ctx, kind, opts...))
	})

	return resource.List{Items: r.resources}, r.err
}

// ListUncached implements [controller.UncachedReader].
func (a *access) ListUncached(ctx context.Context, kind resource.Kind, opts ...state.ListOption) (resource.List, error) {
	r := a.ask(ctx, question{verb: "list uncached", of: nameOfKind(kind), with: listOptions(opts)}, func(ctx context.Context) reply {
		return replyWithList(a.inner.ListUncached(ctx, kind, opts...))
	})

	return resource.List{Items: r.resources}, r.err
}

// View implements [stateadapter.Viewer].
func (a *access) View(ctx context.Context, kind resource.Kind) (cache.View, error) {
	var view *cache.View

	r := a.ask(ctx, question{verb: "view", of: nameOfKind(kind)}, func(ctx context.Context) reply {
		v, err := stateadapter.View(ctx, a.inner, kind)
		if err != nil {
			return reply{err: err}
		}

		view = &v

		return reply{resources: slices.Collect(v.All())}
	})

	switch {
	case r.err != nil:
		return cache.View{}, r.err
	case view != nil:
		return *view, nil
	default:
		return cache.ViewOf(reduced.KindOf(kind), resource.List{Items: r.resources}), nil
	}
}

// Barrier implements [stateadapter.Barrierer].
func (a *access) Barrier(ctx context.Context, kinds ...resource.Kind) error {
	return a.ask(ctx, question{verb: "barrier", with: kindsText(kinds)}, func(ctx context.Context) reply {
		return replyWithError(stateadapter.Barrier(ctx, a.inner, kinds...))
	}).err
}

// ContextWithTeardown implements [controller.Reader].
func (a *access) ContextWithTeardown(ctx context.Context, ptr resource.Pointer) (context.Context, error) {
	return a.teardown(ctx, question{verb: "context with teardown", of: nameOf(ptr)}, func(ctx context.Context) (context.Context, error) {
		return a.inner.ContextWithTeardown(ctx, ptr)
	})
}

// Create implements [controller.Writer].
func (a *access) Create(ctx context.Context, res resource.Resource, opts ...controller.CreateOption) error {
	var options owned.CreateOptions

	for _, opt := range opts {
		opt(&options)
	}

	return a.write(ctx, question{verb: "create", with: noOwner(options.WithNoOwner), writes: res}, func(ctx context.Context) error {
		return a.inner.Create(ctx, res, opts...)
	})
}

// Update implements [controller.Writer].
func (a *access) Update(ctx context.Context, res resource.Resource) error {
	return a.write(ctx, question{verb: "update", writes: res}, func(ctx context.Context) error {
		return a.inner.Update(ctx, res)
	})
}

// write asks for a resource to be written, which gets what the state has put on it.
func (a *access) write(ctx context.Context, q question, do func(context.Context) error) error {
	q.of = nameOf(q.writes.Metadata())

	r := a.ask(ctx, q, func(ctx context.Context) reply { return replyWith(q.writes, do(ctx)) })
	if r.err != nil {
		return r.err
	}

	if res, _ := r.one(); res != nil && res != q.writes {
		*q.writes.Metadata() = *res.Metadata()
	}

	return nil
}

// Modify implements [controller.Writer].
func (a *access) Modify(ctx context.Context, empty resource.Resource, f func(resource.Resource) error, opts ...controller.ModifyOption) error {
	_, err := a.ModifyWithResult(ctx, empty, f, opts...)

	return err
}

// ModifyWithResult implements [controller.Writer].
func (a *access) ModifyWithResult(
	ctx context.Context, empty resource.Resource, f func(resource.Resource) error, opts ...controller.ModifyOption,
) (resource.Resource, error) {
	options := owned.ToModifyOptions(opts...)

	with := "in any phase"
	if options.ExpectedPhase != nil {
		with = "while " + options.ExpectedPhase.String()
	}

	if options.WithNoOwner {
		with += ", " + noOwner(true)
	}

	return a.modify(ctx, question{verb: "modify", of: nameOf(empty.Metadata()), with: with, writes: empty}, f,
		func(ctx context.Context, f update) reply {
			return replyWith(a.inner.ModifyWithResult(ctx, empty, f, opts...))
		}).one()
}

// Teardown implements [controller.Writer].
func (a *access) Teardown(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) (bool, error) {
	r := a.ask(ctx, question{verb: "tear down", of: nameOf(ptr), with: deleteOptions(opts)}, func(ctx context.Context) reply {
		ready, err := a.inner.Teardown(ctx, ptr, opts...)

		return reply{ok: ready, err: err}
	})

	return r.ok, r.err
}

// Destroy implements [controller.Writer].
func (a *access) Destroy(ctx context.Context, ptr resource.Pointer, opts ...controller.DeleteOption) error {
	return a.ask(ctx, question{verb: "destroy", of: nameOf(ptr), with: deleteOptions(opts)}, func(ctx context.Context) reply {
		return replyWithError(a.inner.Destroy(ctx, ptr, opts...))
	}).err
}

// AddFinalizer implements [controller.Writer].
func (a *access) AddFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	return a.ask(ctx, question{verb: "add finalizer", of: nameOf(ptr), with: strings.Join(fins, ", ")}, func(ctx context.Context) reply {
		return replyWithError(a.inner.AddFinalizer(ctx, ptr, fins...))
	}).err
}

// AddFinalizerIfRunning implements [stateadapter.RunningFinalizerAdder].
func (a *access) AddFinalizerIfRunning(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	q := question{verb: "add finalizer if running", of: nameOf(ptr), with: strings.Join(fins, ", ")}

	return a.ask(ctx, q, func(ctx context.Context) reply {
		return replyWithError(stateadapter.AddFinalizerIfRunning(ctx, a.inner, ptr, fins...))
	}).err
}

// RemoveFinalizer implements [controller.Writer].
func (a *access) RemoveFinalizer(ctx context.Context, ptr resource.Pointer, fins ...resource.Finalizer) error {
	return a.ask(ctx, question{verb: "remove finalizer", of: nameOf(ptr), with: strings.Join(fins, ", ")}, func(ctx context.Context) reply {
		return replyWithError(a.inner.RemoveFinalizer(ctx, ptr, fins...))
	}).err
}

func getOptions(opts []state.GetOption) string {
	var options state.GetOptions

	for _, opt := range opts {
		opt(&options)
	}

	return undecoded(options.UnmarshalOptions)
}

func undecoded(options state.UnmarshalOptions) string {
	if options.SkipProtobufUnmarshal {
		return "not decoded"
	}

	return ""
}

func listOptions(opts []state.ListOption) string {
	var (
		options state.ListOptions
		with    []string
	)

	for _, opt := range opts {
		opt(&options)
	}

	for _, query := range options.LabelQueries {
		with = append(with, fmt.Sprintf("labels %+v", query.Terms))
	}

	if options.IDQuery.Regexp != nil {
		with = append(with, "id like "+options.IDQuery.Regexp.String())
	}

	if text := undecoded(options.UnmarshalOptions); text != "" {
		with = append(with, text)
	}

	return strings.Join(with, ", ")
}

func deleteOptions(opts []controller.DeleteOption) string {
	if options := owned.ToDeleteOptions(opts...); options.Owner != nil {
		return fmt.Sprintf("owned by %q", *options.Owner)
	}

	return ""
}

func noOwner(is bool) string {
	if is {
		return "without owner"
	}

	return ""
}

func kindsText(kinds []resource.Kind) string {
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		texts[i] = nameOfKind(k).String()
	}

	return strings.Join(texts, ", ")
}

func inputsText(inputs []controller.Input) string {
	texts := make([]string, len(inputs))
	for i, in := range inputs {
		texts[i] = fmt.Sprintf("%s of kind %d", name{in.Namespace, in.Type, in.ID.ValueOrZero()}, in.Kind)
	}

	return strings.Join(texts, ", ")
}
