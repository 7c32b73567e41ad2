package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchyard-run/switchyard/runtime"
)

var (
	running   = desc("running", "1 while the engine runs.")
	rewritten = desc("rewritten_resources", "Resources that several controllers keep rewriting, each undoing what another has done.")
	pending   = desc("pending_changes", "Changes that nobody has been told of yet.")

	watchOpen   = desc("watch_open", "1 while the watch of the kind is open.", kindLabels...)
	watchSynced = desc("watch_synced", "1 once the first contents of the kind have come.", kindLabels...)
	known       = desc("known_resources", "Resources of the kind that the engine keeps track of.", kindLabels...)
)

var kindLabels = []string{"namespace", "type"}

// counts are those of the engine's own counts that are shown under a name of their own; what there is beside can be seen of the
// controllers and kinds.
var counts = map[string]*prometheus.Desc{
	"watch_failures":       desc("watch_failures_total", "Watches that broke or could not be opened."),
	"watch_relists":        desc("watch_relists_total", "Kinds that were listed anew after a gap."),
	"watch_audits":         desc("watch_audits_total", "Audits of watches that were begun."),
	"watch_missed":         desc("watch_missed_changes_total", "Changes that audits have found missed, and made up for."),
	"damped_passes":        desc("damped_passes_total", "Passes after which an item had to wait because its own passes write what wakes it."),
	"rivalries":            desc("rivalries_total", "Resources that controllers were found to keep rewriting."),
	"finished_controllers": desc("finished_controllers_total", "Classic controllers whose Run has returned for good."),
	"passes_over_deadline": desc("passes_over_deadline_total", "Passes that have failed because they were over their deadline."),
}

// collectEngine sends what there is once for an engine.
func collectEngine(ch chan<- prometheus.Metric, h *runtime.Health, counted map[string]int64) {
	ch <- gauge(running, one(h.Running))
	ch <- gauge(rewritten, float64(len(h.Rivalries)))

	for name, desc := range counts {
		if n, ok := counted[name]; ok {
			ch <- counter(desc, float64(n))
		}
	}

	if n, ok := counted["pending_changes"]; ok {
		ch <- gauge(pending, float64(n))
	}
}

// kindLevel is what goes up and down of a kind, or of several together.
type kindLevel struct{ open, synced, known float64 }

func kindLevelOf(k *runtime.KindHealth) kindLevel {
	return kindLevel{one(k.Open), one(k.Synced), float64(k.Known)}
}

func (l *kindLevel) add(other kindLevel) {
	l.open += other.open
	l.synced += other.synced
	l.known += other.known
}

func (l *kindLevel) collect(ch chan<- prometheus.Metric, labels ...string) {
	ch <- gauge(watchOpen, l.open, labels...)
	ch <- gauge(watchSynced, l.synced, labels...)
	ch <- gauge(known, l.known, labels...)
}

func one(yes bool) float64 {
	if yes {
		return 1
	}

	return 0
}
