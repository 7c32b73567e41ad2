package recording

import (
	"context"
	"encoding/json"
	"fmt"
)

// Ask asks the world outside, as by a file, a process or a request over the network. In a pass that is recorded the answer
// is written down; in a replay ask is not called, and what is returned is what the recorded pass got. Everywhere else it
// just calls.
//
// What says what is asked, with all that matters to the answer or to what asking does: a replay that asks something else
// is a difference. The answer has to survive JSON. Of an error the text survives, and whether it is one of those of
// io/fs, context and the state.
//
// The context is that of the pass or the Run, or made of it.
func Ask[T any](ctx context.Context, what string, ask func() (T, error)) (T, error) {
	t := traceOf(ctx)
	if t == nil {
		return ask()
	}

	var (
		got   T
		asked bool
	)

	r := t.ask(ctx, question{verb: "ask", with: what}, func(context.Context) reply {
		var err error

		got, err = ask()
		asked = true

		value, failure := json.Marshal(got)
		if failure != nil {
			t.failed(fmt.Errorf("the answer to %q cannot be recorded: %w", what, failure))
		}

		return reply{value: value, err: err}
	})

	if !asked && len(r.value) > 0 {
		if err := json.Unmarshal(r.value, &got); err != nil {
			t.failed(fmt.Errorf("the answer to %q cannot be read as %T: %w", what, got, err))

			return got, err
		}
	}

	return got, r.err
}

// Do is [Ask] for what has no answer but an error.
func Do(ctx context.Context, what string, do func() error) error {
	_, err := Ask(ctx, what, func() (struct{}, error) { return struct{}{}, do() })

	return err
}
