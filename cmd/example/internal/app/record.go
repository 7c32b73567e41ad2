package app

import (
	"errors"
	"os"

	"github.com/cosi-project/runtime/pkg/controller"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"
)

// record is a recording of the run that goes to a file. A nil one records nothing.
type record struct {
	*recording.Recorder

	file *os.File
}

// openRecord starts a recording. The recorded document and environment of services may hold secrets, so that the file is
// for the user alone.
func openRecord(name string) (*record, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}

	return &record{recording.New(file), file}, nil
}

// Engine returns the engine to register controllers with.
func (r *record) Engine(engine controller.Engine) controller.Engine {
	if r == nil {
		return engine
	}

	return r.Recorder.Engine(engine)
}

// close ends the recording. The engine has ended before.
func (r *record) close(logger *zap.Logger) error {
	if r == nil {
		return nil
	}

	summary, err := r.Close()
	if err == nil {
		logger.Info("the run is recorded", zap.String("file", r.file.Name()), zap.Int("passes", summary.Passes),
			zap.String("sequence", summary.Sequence), zap.String("state", summary.State))
	}

	return errors.Join(err, r.file.Close())
}
