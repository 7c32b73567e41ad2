package recording_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/gen/xerrors"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
)

// formatter is a queue controller that keeps a text for each number.
type formatter struct {
	// reconcile replaces what it does, if there is one.
	reconcile func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error
	// items replace what it maps to, if there are any.
	items []resource.Pointer
	// mapped gets something for each mapping there is room for.
	mapped chan struct{}
}

func (*formatter) Name() string { return "Formatter" }

func (*formatter) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs: []controller.Input{
			{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputQPrimary},
			{Namespace: ns, Type: conformance.StrResourceType, Kind: controller.InputQMapped},
		},
		Outputs: []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputExclusive}},
	}
}

func (f *formatter) Reconcile(ctx context.Context, _ *zap.Logger, r controller.QRuntime, ptr resource.Pointer) error {
	if f.reconcile != nil {
		return f.reconcile(ctx, r, ptr)
	}

	return format(ctx, r, ptr)
}

// format is what a formatter does.
func format(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
	n, err := safe.ReaderGet[*conformance.IntResource](ctx, r, ptr)
	if err != nil {
		return err
	}

	return write(ctx, r, ptr, strconv.Itoa(n.Value()))
}

func write(ctx context.Context, r controller.QRuntime, ptr resource.Pointer, value string) error {
	return safe.WriterModify(ctx, r, text(ptr.ID(), ""), func(s *conformance.StrResource) error {
		s.SetValue(value)

		return nil
	})
}

func (f *formatter) MapInput(
	_ context.Context, _ *zap.Logger, _ controller.QRuntime, md controller.ReducedResourceMetadata,
) ([]resource.Pointer, error) {
	select {
	case f.mapped <- struct{}{}:
	default:
	}

	if f.items != nil {
		return f.items, nil
	}

	return []resource.Pointer{number(md.ID(), 0).Metadata()}, nil
}

func registerFormatter(f formatter) func(controller.Engine) error {
	return func(engine controller.Engine) error { return engine.RegisterQController(&f) }
}

func recordFormatter(t *testing.T) string {
	t.Helper()

	mapped := make(chan struct{}, 1)
	s := record(t, registerFormatter(formatter{mapped: mapped}))

	require.NoError(t, s.state.Create(t.Context(), number("one", 1)))
	await(s, text("one", ""), func(s *conformance.StrResource) bool { return s.Value() == "1" })

	<-mapped

	kept, _ := s.end()

	return kept
}

func TestChangedControllersAreFound(t *testing.T) {
	t.Parallel()

	kept := recordFormatter(t)

	_, err := replay(t, kept, registerFormatter(formatter{}))
	require.NoError(t, err)

	for what, test := range map[string]struct {
		changed formatter
		problem string
		diff    string
	}{
		"writes something else": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				_, err := r.Get(ctx, ptr)

				return errors.Join(err, write(ctx, r, ptr, "one"))
			}},
			"wrote something else",
			`--- recorded
+++ replayed
@@ -2,4 +2,4 @@
 modify default/test/str/one (while running)
   phase: running
   spec:
-    !!binary 31
+    !!binary 6f6e65
`,
		},
		"leaves a write out": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				_, err := r.Get(ctx, ptr)

				return err
			}},
			"returned without doing what it had done",
			`--- recorded
+++ replayed
@@ -1,6 +1,2 @@
 get default/test/int/one
-modify default/test/str/one (while running)
-  phase: running
-  spec:
-    !!binary 31
 returned
`,
		},
		"reads something else": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, _ resource.Pointer) error {
				_, err := r.Get(ctx, number("two", 0).Metadata())

				return err
			}},
			"asked for what it had not asked for",
			`--- recorded
+++ replayed
@@ -1,1 +1,1 @@
-get default/test/int/one
+get default/test/int/two
`,
		},
		"reads more": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				err := format(ctx, r, ptr)
				_, more := r.List(ctx, numbers)

				return errors.Join(err, more)
			}},
			"asked for what it had not asked for",
			`--- recorded
+++ replayed
@@ -3,3 +3,4 @@
   phase: running
   spec:
     !!binary 31
+list default/test/int
`,
		},
		"fails": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				return errors.Join(format(ctx, r, ptr), errors.New("no"))
			}},
			"returned something else",
			`--- recorded
+++ replayed
@@ -3,4 +3,4 @@
   phase: running
   spec:
     !!binary 31
-returned
+returned the error "no"
`,
		},
		"comes back later": {
			formatter{reconcile: func(ctx context.Context, r controller.QRuntime, ptr resource.Pointer) error {
				return errors.Join(format(ctx, r, ptr), controller.NewRequeueInterval(time.Second))
			}},
			"returned something else",
			`--- recorded
+++ replayed
@@ -3,4 +3,5 @@
   phase: running
   spec:
     !!binary 31
-returned
+returned the error "requeue in 1s"
+  to be called again after 1s
`,
		},
		"panics": {
			formatter{reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error { panic("no") }},
			"panicked: no",
			`--- recorded
+++ replayed
@@ -1,6 +1,1 @@
-get default/test/int/one
-modify default/test/str/one (while running)
-  phase: running
-  spec:
-    !!binary 31
-returned
+did not return: it panicked or ended its goroutine
`,
		},
		"maps to something else": {
			formatter{items: []resource.Pointer{number("two", 0).Metadata()}},
			"returned something else",
			`--- recorded
+++ replayed
@@ -1,2 +1,2 @@
 returned
-  default/test/int/one
+  default/test/int/two
`,
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			_, err := replay(t, kept, registerFormatter(test.changed))

			var different *recording.DifferenceError

			require.ErrorAs(t, err, &different)
			require.Equal(t, test.problem, different.Problem)
			require.Equal(t, test.diff, different.Diff)
			require.Equal(t, "Formatter", different.Pass.Controller)
			require.Contains(t, err.Error(), different.Pass.String())
		})
	}
}

func TestChangedClassicControllersAreFound(t *testing.T) {
	t.Parallel()

	kept, _ := recordWriter(t)

	for what, test := range map[string]struct {
		run     func(ctx context.Context, r controller.Runtime) error
		problem string
	}{
		"takes the next wakeup without writing": {
			func(ctx context.Context, r controller.Runtime) error {
				for {
					select {
					case <-ctx.Done():
						return nil
					case <-r.EventCh():
					}

					if _, err := r.List(ctx, numbers); err != nil {
						return err
					}
				}
			},
			"took the next wakeup without doing what it had done",
		},
		"returns early": {
			func(ctx context.Context, r controller.Runtime) error {
				<-r.EventCh()

				_, err := r.List(ctx, numbers)
				r.StartTrackingOutputs()

				return errors.Join(err, r.CleanupOutputs(ctx, texts))
			},
			"is the last one of a Run that had gone on",
		},
		"fails to make what it had made": {
			func(ctx context.Context, r controller.Runtime) error {
				for {
					select {
					case <-ctx.Done():
						return nil
					case <-r.EventCh():
					}

					r.StartTrackingOutputs() // its first pass may have found nothing

					list, err := r.List(ctx, numbers)
					if err != nil {
						return err
					}

					for range list.Items {
						if err := r.Modify(ctx, text("one", ""), func(resource.Resource) error { return errors.New("no") }); err != nil {
							return err
						}
					}

					if err := r.CleanupOutputs(ctx, texts); err != nil {
						return err
					}
				}
			},
			"made something else of a resource",
		},
		"cleans up without tracking": {
			func(ctx context.Context, r controller.Runtime) error {
				<-r.EventCh()

				_, err := r.List(ctx, numbers)

				return errors.Join(err, r.CleanupOutputs(ctx, texts))
			},
			"asked for what it had not asked for",
		},
		"returns at once": {
			func(context.Context, controller.Runtime) error { return nil },
			"is the last one of a Run that had gone on",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			_, err := replay(t, kept, func(engine controller.Engine) error { return engine.RegisterController(&runner{"Writer", test.run}) })

			var different *recording.DifferenceError

			require.ErrorAs(t, err, &different)
			require.Equal(t, test.problem, different.Problem)
		})
	}
}

// A pass that is to be left alone until the next change, and one that has failed with the same words, are not the same.
func TestSkipsAreNoFailures(t *testing.T) {
	t.Parallel()

	failed := errors.New("no number")
	skipped := xerrors.NewTagged[qtransform.SkipReconcileTag](failed)

	// returning is a formatter that returns the error, and says so in the channel.
	returning := func(err error, called chan struct{}) func(controller.Engine) error {
		return registerFormatter(formatter{reconcile: func(context.Context, controller.QRuntime, resource.Pointer) error {
			select {
			case called <- struct{}{}:
			default:
			}

			return err
		}})
	}

	called := make(chan struct{}, 1)
	s := record(t, returning(skipped, called))

	require.NoError(t, s.state.Create(t.Context(), number("one", 1)))

	<-called

	kept, _ := s.end()

	_, err := replay(t, kept, returning(skipped, nil))
	require.NoError(t, err)

	_, err = replay(t, kept, returning(failed, nil))

	var different *recording.DifferenceError

	require.ErrorAs(t, err, &different)
	require.Equal(t, "returned something else", different.Problem)
	require.Contains(t, different.Diff, "skip")
}

// runner is a classic controller with a Run of one's own.
type runner struct {
	name string
	run  func(ctx context.Context, r controller.Runtime) error
}

func (c *runner) Name() string { return c.name }

func (*runner) Inputs() []controller.Input {
	return []controller.Input{{Namespace: ns, Type: conformance.IntResourceType, Kind: controller.InputWeak}}
}

func (*runner) Outputs() []controller.Output {
	return []controller.Output{{Type: conformance.StrResourceType, Kind: controller.OutputExclusive}}
}

func (c *runner) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	return c.run(ctx, r)
}

// A controller that waits for something that is not in the recording would wait for ever.
func TestStuckReplayEndsWithItsContext(t *testing.T) {
	t.Parallel()

	kept, _ := recordWriter(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")

	_, err := recording.Replay(ctx, reader(kept), func(engine controller.Engine) error {
		return engine.RegisterController(&runner{"Writer", func(ctx context.Context, _ controller.Runtime) error {
			cancel(enough)
			<-ctx.Done()

			return nil
		}})
	})

	var stuck *recording.StuckError

	require.ErrorAs(t, err, &stuck)
	require.ErrorIs(t, err, enough)
	require.Equal(t, "Writer", stuck.Pass.Controller)
}
