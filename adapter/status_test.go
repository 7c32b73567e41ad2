package adapter_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
)

var errMine = errors.New("mine")

func TestRecorderRemembersTheLastFailureUntilItRecovers(t *testing.T) {
	t.Parallel()

	var r adapter.Recorder

	at := func(second int64) time.Time { return time.Unix(second, 0) }

	r.Enter(adapter.Running, at(1))
	require.Equal(t, adapter.Status{Phase: adapter.Running, Since: at(1)}, r.Status())

	r.Fail(adapter.BackingOff, at(2), errMine, 3, at(5))
	require.Equal(t, adapter.Status{
		Phase: adapter.BackingOff, Since: at(2), LastError: errMine, Attempt: 3, NextTry: at(5),
	}, r.Status())

	// It is tried again: the failure is still the last one, but no try is to come.
	r.Enter(adapter.Running, at(5))
	require.Equal(t, adapter.Status{Phase: adapter.Running, Since: at(5), LastError: errMine, Attempt: 3}, r.Status())

	r.Note(errMine, 4, at(9))
	require.Equal(t, adapter.Status{
		Phase: adapter.Running, Since: at(5), LastError: errMine, Attempt: 4, NextTry: at(9),
	}, r.Status())

	r.Recover()
	require.Equal(t, adapter.Status{Phase: adapter.Running, Since: at(5)}, r.Status())
}
