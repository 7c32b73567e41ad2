package inspect

import (
	"maps"
	"slices"
)

// Question is a question of the API, for tests that go through all of them.
type Question struct {
	Path, About  string
	Needs, Takes []string
}

// Questions are all of them.
func Questions() (all []Question) {
	for _, q := range questions {
		all = append(all, Question{q.path, q.about, q.needs, q.takes})
	}

	return all
}

// Routes are all addresses below the root of the API.
func (h *Handler) Routes() []string { return slices.Sorted(maps.Keys(h.routes())) }
