package inspect_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"github.com/cosi-project/runtime/pkg/controller/conformance"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// From the overview everything is found, by names that are what they are.
func TestAPI(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create(hostile)

		var overview api.Overview

		w.read(&overview, "overview")
		require.True(w, overview.Running)
		require.Len(w, overview.Controllers, 2)

		for _, c := range overview.Controllers {
			var detail api.ControllerDetail

			w.read(&detail, "controller", "name", c.Name)
			assert.Equal(w, c.Name, detail.Name)

			for _, p := range detail.LastPasses {
				var pass api.Pass

				w.read(&pass, "pass", "controller", p.Controller, "number", strconv.FormatUint(p.Number, 10))
				assert.Equal(w, p, pass)
			}
		}

		var (
			list   api.ResourceList
			detail api.ResourceDetail
			why    api.Why
		)

		w.read(&list, "resources", "namespace", "target", "type", conformance.StrResourceType)
		require.Len(w, list.Items, 1)

		ref := list.Items[0].Ref
		require.Equal(w, hostile, ref.ID)

		w.read(&detail, "resource", "namespace", ref.Namespace, "type", ref.Type, "id", ref.ID)
		require.True(w, detail.Exists)

		w.read(&why, "why", "namespace", ref.Namespace, "type", ref.Type, "id", ref.ID)
		require.Equal(w, api.RootOutside, why.Roots[0].Kind)
	})
}

// A question that is not asked as it should be is told what is wrong with it.
func TestProblems(t *testing.T) {
	inWorld(t, func(w *world) {
		for target, want := range map[string]struct {
			status    int
			error, do string
		}{
			"controller":               {http.StatusBadRequest, `parameter "name" is missing`, "name=…"},
			"controller?nam=x":         {http.StatusBadRequest, `parameter "nam" is not known`, "use name"},
			"controller?name=tostr":    {http.StatusNotFound, `"QIntToStrController"`, "ask for the controllers"},
			"overview?name=x":          {http.StatusBadRequest, `parameter "name" is not known`, "there are no parameters"},
			"passes?limit=0":           {http.StatusBadRequest, `parameter "limit" is "0"`, "from 1 to 10000"},
			"pass?controller=a":        {http.StatusBadRequest, `parameter "number" is missing`, "number=…"},
			"pass?controller=a&number": {http.StatusBadRequest, `parameter "number" is ""`, "from 1 on"},
			"why":                      {http.StatusBadRequest, "nothing was asked about", "controller=…"},
			"why?id=a":                 {http.StatusBadRequest, `parameter "namespace" is missing`, "namespace=…"},
			"why?id=a&number=1":        {http.StatusBadRequest, "about a resource and about a controller", "one of them"},
			"blocked?number=1":         {http.StatusBadRequest, `parameter "number" is not known`, "controller"},
			"nothing":                  {http.StatusNotFound, "nothing at this address", "openapi.json"},
		} {
			answer := w.get("/api/v1/" + target)

			var problem api.Problem

			require.NoError(w, json.Unmarshal(answer.Body.Bytes(), &problem))
			assert.Equal(w, want.status, answer.Code, target)
			assert.Equal(w, want.status, problem.Status, target)
			assert.Contains(w, problem.Error, want.error, target)
			assert.Contains(w, problem.Do, want.do, target)
		}
	})
}
