package answer

import (
	"cmp"
	"slices"

	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/inspect/api"
	"github.com/switchyard-run/switchyard/runtime"
)

// Overview returns what the engine does at the moment. Its cost is linear in controllers, kinds and declarations.
func (a *Answers) Overview() (*api.Overview, error) {
	h, revision := a.cfg.Engine.Health(), a.cfg.Engine.GraphRevision()

	findings, err := a.Findings()
	if err != nil {
		return nil, err
	}

	return a.OverviewOf(&h, revision, findings), nil
}

// OverviewOf returns the health of an engine, and what is to be said of its declarations in a revision, as an overview.
func (a *Answers) OverviewOf(h *runtime.Health, revision uint64, findings []api.Finding) *api.Overview {
	o := &api.Overview{
		At: a.cfg.Clock.Now(), Running: h.Running, Revision: revision, Controllers: a.controllers(h), Kinds: make([]api.Kind, 0, len(h.Kinds)),
		Problems: append([]string{}, h.Problems()...), Findings: findings,
	}

	for i := range h.Kinds {
		k := &h.Kinds[i]
		o.Kinds = append(o.Kinds, api.Kind{
			Namespace: k.Namespace, Type: k.Type, Open: k.Open, Synced: k.Synced, Cached: k.Cached, Known: k.Known, Error: errorText(k.Err),
		})
	}

	return o
}

// Findings returns what is to be said of the declarations alone.
func (a *Answers) Findings() ([]api.Finding, error) {
	graph, err := a.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	return findingsOf(analysis.Analyze(graph)), nil
}

func findingsOf(report analysis.Report) []api.Finding {
	all := []api.Finding{}

	for _, f := range report.Findings() {
		finding := api.Finding{Severity: string(f.Severity()), Text: f.String()}

		switch f := f.(type) {
		case analysis.Loop:
			finding.Kind, finding.Controllers = "loop", f.Controllers
		case analysis.Unproduced:
			finding.Kind, finding.Controllers = "unproduced", f.Readers
		case analysis.Unread:
			finding.Kind, finding.Controllers = "unread", f.Writers
		}

		all = append(all, finding)
	}

	return all
}

// Controllers returns all controllers in order of name.
func (a *Answers) Controllers() []api.Controller {
	h := a.cfg.Engine.Health()

	return a.controllers(&h)
}

func (a *Answers) controllers(h *runtime.Health) []api.Controller {
	all := make([]api.Controller, 0, len(h.Controllers))
	for i := range h.Controllers {
		all = append(all, controllerOf(&h.Controllers[i]))
	}

	slices.SortFunc(all, func(a, b api.Controller) int { return cmp.Compare(a.Name, b.Name) })

	return all
}

func errorText(err error) string {
	if err == nil {
		return ""
	}

	return err.Error()
}
