package inspect

import "net/http"

// routePages puts the pages where they belong. Names are in queries, never in paths, so they may be anything; all pages lie beside
// each other, so links between them are the same under any prefix.
func (h *Handler) routePages(mux *http.ServeMux) {
	for path, p := range map[string]page{
		"/{$}":        {takes: []string{"q", "state"}, answer: h.pageOfEngine},
		"/picture":    {answer: h.pageOfPicture},
		"/group":      {needs: []string{"name"}, answer: h.pageOfGroup},
		"/controller": {needs: []string{"name"}, answer: h.pageOfController},
		"/pass":       {needs: []string{"controller", "number"}, answer: h.pageOfPass},
		"/passes":     {takes: []string{"controller"}, answer: h.pageOfPasses},
		"/resource":   {needs: []string{"namespace", "type", "id"}, answer: h.pageOfResource},
		"/resources":  {needs: []string{"type"}, takes: []string{"namespace"}, answer: h.pageOfKind},
		"/why":        {takes: []string{"namespace", "type", "id", "controller", "number"}, answer: h.pageOfWhy},
		"/blocked":    {takes: []string{"namespace", "type", "id", "controller"}, answer: h.pageOfBlocked},
		"/findings":   {answer: h.pageOfFindings},
		"/":           {answer: pageOfNothing},
	} {
		mux.Handle(path, h.show(p))
	}

	routeAssets(mux)
}
