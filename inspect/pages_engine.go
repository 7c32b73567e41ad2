package inspect

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// mostProblems is how many problems are told at once.
const mostProblems = 50

// mostRows is how many controllers the list has. Others are found by a search.
const mostRows = 2000

// engineBody is the first page.
type engineBody struct {
	// Problems are sentences, and Further is how many there are beside.
	Problems        []string
	Further         int
	Findings        []api.Finding
	Warnings, Notes int
	// Query is what is searched for, State which state is, or empty for all, Rows the controllers that have both, and Left how
	// many are not among them. Partial tells that there are controllers that are not among the rows, for either reason.
	Query   string
	State   api.State
	Rows    []engineRow
	Left    int
	Partial bool
	Counted string
	States  []stateCount
	Kinds   []api.Kind
	// Broken counts the kinds that are not as they should be.
	Broken  int
	Picture graphPicture
	// Groups is how many groups the picture has, or 0 if it has each controller.
	Groups int
}

// engineRow is a controller in the list, and the node that stands for it in a picture with groups.
type engineRow struct {
	api.Controller

	// Group is nil where the controller stands for itself.
	Group *string
}

// stateCount is how many controllers are in a state.
type stateCount struct {
	State api.State
	Count int
}

// pageOfEngine shows the engine: what is wrong, the controllers, and how they hang together.
func (h *Handler) pageOfEngine(_ *http.Request, p params) (*view, error) {
	state, err := p.state()
	if err != nil {
		return nil, err
	}

	overview, err := h.answers.Overview()
	if err != nil {
		return nil, err
	}

	pic, err := h.picture(overview.Controllers)
	if err != nil {
		return nil, err
	}

	body := &engineBody{
		Problems: overview.Problems, Findings: overview.Findings, Query: strings.ToValidUTF8(p["q"], "\uFFFD"), State: state,
		States: countStates(overview.Controllers), Kinds: overview.Kinds, Picture: pic, Groups: pic.Groups,
	}

	body.list(overview.Controllers)
	body.judge()

	return &view{Name: "engine", Title: "Engine", Body: body, Whole: true, Later: !pic.Ready}, nil
}

// list makes the rows.
func (b *engineBody) list(controllers []api.Controller) {
	found, query := 0, strings.ToLower(b.Query)

	for _, c := range controllers {
		if b.State != "" && c.State != b.State || !strings.Contains(strings.ToLower(c.Name), query) {
			continue
		}

		if found++; len(b.Rows) < mostRows {
			b.Rows = append(b.Rows, engineRow{c, b.Picture.group(c.Name)})
		}
	}

	b.Left = found - len(b.Rows)
	b.Partial = len(b.Rows) < len(controllers)
	b.Counted = fmt.Sprint(found)

	if found != len(controllers) {
		b.Counted = fmt.Sprintf("%d of %d", found, len(controllers))
	}
}

// judge counts what is not as it should be.
func (b *engineBody) judge() {
	if b.Further = max(0, len(b.Problems)-mostProblems); b.Further > 0 {
		b.Problems = b.Problems[:mostProblems]
	}

	for i := range b.Findings {
		if b.Findings[i].Severity == "warning" {
			b.Warnings++
		} else {
			b.Notes++
		}
	}

	for i := range b.Kinds {
		if k := &b.Kinds[i]; !k.Open || !k.Synced || k.Error != "" {
			b.Broken++
		}
	}
}

func countStates(controllers []api.Controller) []stateCount {
	count := map[api.State]int{}
	for i := range controllers {
		count[controllers[i].State]++
	}

	all := make([]stateCount, 0, len(api.States()))
	for _, s := range api.States() {
		all = append(all, stateCount{s, count[s]})
	}

	return all
}
