package recording_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/recording"
)

// Whatever there is in a file: it is replayed as a whole, or the error says what is the matter.
func FuzzRecordings(f *testing.F) {
	const head = `{"recording":{"version":1}}` + "\n" + `{"controller":{"name":"Writer","form":"classic"}}` + "\n"

	f.Add("")
	f.Add(head)
	f.Add(head + `{"begin":{"pass":1,"controller":"Writer","by":"started"}}` + "\n" + `{"begin":{"pass":2,"controller":"Writer","by":"woken"}}` + "\n")

	kept, _ := recordWriter(f)
	f.Add(kept)

	lines := strings.SplitAfter(kept, "\n")
	for i := range lines {
		f.Add(strings.Join(lines[:i], ""))
		f.Add(strings.Join(lines[:i], "") + strings.Join(lines[min(i+1, len(lines)):], ""))
	}

	f.Fuzz(func(t *testing.T, kept string) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()

			result, err := recording.Replay(ctx, strings.NewReader(kept), registerWriter(strconv.Itoa))
			if err == nil {
				require.Len(t, result.Passes, result.Summary.Passes)

				return
			}

			require.True(t, errors.As(err, new(*recording.FormatError)) || errors.As(err, new(*recording.DifferenceError)) ||
				errors.As(err, new(*recording.StuckError)) || errors.As(err, new(*recording.UnknownControllerError)) ||
				errors.Is(err, recording.ErrNoControllers), "%v", err)
			require.NotEmpty(t, err.Error())
		})
	})
}
