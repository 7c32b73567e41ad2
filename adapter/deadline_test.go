package adapter_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/adapter"
)

func TestDeadlineError(t *testing.T) {
	cause := (&adapter.Deadline{Controller: "c", After: time.Second}).Exceeds("its pass")

	require.ErrorIs(t, cause, context.DeadlineExceeded)
	assert.Equal(t, `controller "c": its pass has run for longer than its deadline, 1s`, cause.Error())

	returned := errors.New("gave up")
	failed := cause.With(returned)

	require.ErrorIs(t, failed, context.DeadlineExceeded)
	require.ErrorIs(t, failed, returned)
	assert.Equal(t, cause.Error()+": gave up", failed.Error())
	require.NoError(t, cause.Err, "the cause stays what it is")

	assert.Same(t, cause, cause.With(cause), "who returns the cause says nothing new")
	require.NoError(t, cause.With(nil).Err)
}

// Once Stop has returned, what was to be called has been, or will not be.
func TestAlarm(t *testing.T) {
	clock := clockwork.NewFakeClock()
	rung := make(chan struct{})
	alarm := adapter.SetAlarm(clock, time.Second, func() { close(rung) })

	clock.Advance(time.Second)
	alarm.Stop()

	select {
	case <-rung:
	default:
		t.Error("Stop has not waited")
	}

	alarm = adapter.SetAlarm(clock, time.Second, func() { t.Error("it was stopped") })
	alarm.Stop()
	clock.Advance(time.Hour)

	var none *adapter.Alarm

	none.Stop()
}
