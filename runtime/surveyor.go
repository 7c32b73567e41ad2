package runtime

import (
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/reduced"
)

// mostNamed is how many entries a list in the log has before the others are counted.
const mostNamed = 50

// surveyor says in the log what is found in the declarations, each finding once for as long as it is there. It belongs to the
// watchdog, so that registration does not wait for it, and a burst of registrations is looked at once.
type surveyor struct {
	looked   bool
	revision uint64
	// standing are those that were found at the last look, by what tells them from others.
	standing map[string]bool
}

// look tells what is new since the last look, if the declarations have changed.
func (s *surveyor) look(r *Runtime) {
	if r.cfg.NoFindings || !r.logger.Core().Enabled(zap.WarnLevel) {
		return
	}

	revision := r.db.Revision()
	if s.looked && s.revision == revision {
		return
	}

	s.looked, s.revision = true, revision

	s.tell(r.logger, analysis.Analyze(r.db.Graph()))
}

// tell writes a line for each loop, and one for all notes of a kind: most systems have many, and they are right.
func (s *surveyor) tell(logger *zap.Logger, report analysis.Report) {
	former := s.standing
	s.standing = map[string]bool{}

	isNew := func(finding ...string) bool {
		key := fmt.Sprintf("%q", finding)
		s.standing[key] = true

		return !former[key]
	}

	for _, loop := range report.Loops {
		if isNew(append([]string{"loop"}, loop.Controllers...)...) {
			logger.Warn("controllers feed each other, and come to rest only if one of them writes nothing when nothing has changed: "+
				"see that one does, or have one read something else",
				zap.Strings("controllers", some(loop.Controllers, mostNamed)), zap.String("cycle", loop.Way()))
		}
	}

	var unproduced, unread []string

	for _, u := range report.Unproduced {
		if isNew("unproduced", u.Namespace, u.Type) {
			unproduced = append(unproduced, reduced.Kind{Namespace: u.Namespace, Type: u.Type}.String()+among(u.Readers))
		}
	}

	for _, u := range report.Unread {
		if isNew("unread", u.Type) {
			unread = append(unread, u.Type+among(u.Writers))
		}
	}

	note(logger, "controllers read what no controller writes: it has to come from outside", unproduced)
	note(logger, "controllers write what no controller reads: it is for others outside, or left over", unread)
}

func note(logger *zap.Logger, message string, kinds []string) {
	if len(kinds) > 0 {
		logger.Info(message, zap.Int("count", len(kinds)), zap.Strings("kinds", some(kinds, mostNamed)))
	}
}

// among tells who reads or writes a kind.
func among(controllers []string) string {
	return " (" + strings.Join(some(controllers, 3), ", ") + ")"
}

// some returns the first ones of a list, with an entry that counts the others.
func some(all []string, most int) []string {
	if len(all) <= most {
		return all
	}

	return append(all[:most:most], fmt.Sprintf("and %d more", len(all)-most))
}
