package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
)

// recordSuffix ends the names of records.
const recordSuffix = ".pid.json"

// record is left for every running process. A process ID alone says little, as the system uses it again; together
// with the start time and the boot it belongs to, it is unique.
type record struct {
	PID int `json:"pid"`
	// Started is the start time as the kernel counts it, or empty where it cannot be told.
	Started string `json:"started"`
	// Boot identifies the boot of the system, or is empty where it cannot be told.
	Boot string `json:"boot"`
	// Mark is what the environment of the process says, and of its descendants.
	Mark string `json:"mark"`
}

func (s *Supervisor) remember(name string, c *child) error {
	text, err := json.Marshal(record{PID: c.pid, Started: startTime(c.pid), Boot: bootID(), Mark: c.mark})
	if err != nil {
		return err
	}

	return files.WriteFile(s.cfg.Root, path.Join(s.cfg.RunDir, name+recordSuffix), append(text, '\n'), 0o644)
}

func (s *Supervisor) forget(name string) {
	err := s.cfg.Root.Remove(path.Join(s.cfg.RunDir, name+recordSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Logger.Warn("the record of a process could not be removed", zap.String("service", name), zap.Error(err))
	}
}

// patience is how long killed processes may take to go.
const patience = 5 * time.Second

// killStale kills what the records find. The lock is held, so nobody else is in charge of those processes.
func killStale(cfg Config) error {
	entries, err := fs.ReadDir(cfg.Root.FS(), cfg.RunDir)
	if err != nil {
		return err
	}

	for _, entry := range entries {
		name, ok := unitFile(entry.Name())
		if !ok {
			continue
		}

		file := path.Join(cfg.RunDir, entry.Name())

		text, err := cfg.Root.ReadFile(file)
		if err != nil {
			return err
		}

		var r record

		// A record that cannot be read names nobody.
		if json.Unmarshal(text, &r) == nil && r.PID > 1 && r.Boot == bootID() {
			if err := killRecorded(cfg, name, r); err != nil {
				return err
			}
		}

		if err := cfg.Root.Remove(file); err != nil {
			return err
		}
	}

	return nil
}

// killRecorded kills the processes of one record and waits until they have gone.
func killRecorded(cfg Config, name string, r record) error {
	deadline := cfg.Clock.Now().Add(patience)

	for first := true; ; first = false {
		pids := recorded(r)
		if len(pids) == 0 {
			return nil
		}

		if first {
			cfg.Logger.Info("a process left over from an earlier run is killed",
				zap.String("service", name), zap.Ints("pids", pids))
		}

		if cfg.Clock.Now().After(deadline) {
			return fmt.Errorf("processes %v of service %q, left over from an earlier run, do not go", pids, name)
		}

		signalAll(pids, syscall.SIGKILL)
		cfg.Clock.Sleep(poll)
	}
}
