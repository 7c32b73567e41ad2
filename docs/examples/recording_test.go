package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/gen/ensure"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
	"github.com/switchyard-run/switchyard/runtime"
)

func init() {
	ensure.NoError(protobuf.RegisterDynamic[text](hostType, &Host{}))
	ensure.NoError(protobuf.RegisterDynamic[text](recordType, &Record{}))
}

// resolver keeps a record of what the name of each host resolves to.
type resolver struct {
	lookup func(ctx context.Context, host string) ([]string, error)
	// suffix ends the lines of records.
	suffix string
}

func (*resolver) Name() string { return "Resolver" }

func (*resolver) Inputs() []controller.Input {
	return []controller.Input{safe.Input[*Host](controller.InputWeak)}
}

func (*resolver) Outputs() []controller.Output {
	return []controller.Output{{Type: recordType, Kind: controller.OutputExclusive}}
}

func (c *resolver) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		hosts, err := safe.ReaderListAll[*Host](ctx, r)
		if err != nil {
			return err
		}

		for host := range hosts.All() {
			if err := c.resolve(ctx, r, host.TypedSpec().Value); err != nil {
				return err
			}
		}
	}
}

func (c *resolver) resolve(ctx context.Context, r controller.Writer, name string) error {
	addresses, err := recording.Ask(ctx, "what "+name+" resolves to", func() ([]string, error) {
		return c.lookup(ctx, name)
	})
	if err != nil {
		return err
	}

	return safe.WriterModify(ctx, r, newRecord(name), func(record *Record) error {
		record.TypedSpec().Value = fmt.Sprint(addresses, c.suffix)

		return nil
	})
}

// recordResolver records a live run.
func recordResolver(lookup func(context.Context, string) ([]string, error)) []byte {
	var file bytes.Buffer

	rec := recording.New(&file)
	st := rec.State(newState())

	engine, err := runtime.NewRuntime(st, zap.NewNop())
	must(err)
	must(rec.Engine(engine).RegisterController(&resolver{lookup: lookup}))

	run(engine, func(ctx context.Context) {
		must(st.Create(ctx, newHost("web", "web.example.net")))

		_, err := st.WatchFor(ctx, newRecord("web.example.net").Metadata(), state.WithEventTypes(state.Created))
		must(err)
	})

	_, err = rec.Close()
	must(err)

	return file.Bytes()
}

// A run is recorded where the world outside is, and replayed where it is not.
func Example_recording() {
	file := recordResolver(func(context.Context, string) ([]string, error) { return []string{"192.0.2.7"}, nil })
	ctx := context.Background()

	result, err := recording.Replay(ctx, bytes.NewReader(file), func(engine controller.Engine) error {
		return engine.RegisterController(&resolver{lookup: net.DefaultResolver.LookupHost})
	})
	must(err)
	fmt.Println(result.Complete, result.Passes[0])

	// What has changed since is shown.
	_, err = recording.Replay(ctx, bytes.NewReader(file), func(engine controller.Engine) error {
		return engine.RegisterController(&resolver{lookup: net.DefaultResolver.LookupHost, suffix: "."})
	})

	var different *recording.DifferenceError
	if errors.As(err, &different) {
		fmt.Println(different.Diff)
	}

	// Output:
	// true Resolver started
	// --- recorded
	// +++ replayed
	// @@ -3,4 +3,4 @@
	//  modify default/Records.example.dev/web.example.net (while running)
	//    phase: running
	//    spec:
	// -    value: '[192.0.2.7]'
	// +    value: '[192.0.2.7].'
}
