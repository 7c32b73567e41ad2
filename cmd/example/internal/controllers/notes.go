package controllers

import (
	"context"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/operator"
)

// notes writes into the log what becomes of services. The log is what a machine shows of its past, so that events are in no
// state.
type notes struct{ logger *zap.Logger }

// Record implements [operator.Recorder].
func (n notes) Record(_ context.Context, e operator.Event) error {
	if n.logger == nil {
		return nil
	}

	level := zap.InfoLevel
	if e.Severity == operator.Warning {
		level = zap.WarnLevel
	}

	n.logger.Log(level, e.Subject.ID()+": "+e.Message, zap.String("reason", e.Reason))

	return nil
}
