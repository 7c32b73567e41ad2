package inspect

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// parameterError is that a question was not asked as it should be.
type parameterError struct {
	// name is the parameter, and fault what is wrong with it.
	name, fault string
	do          string
}

// Error implements error.
func (e *parameterError) Error() string {
	if e.name == "" {
		return e.fault
	}

	return fmt.Sprintf("parameter %q %s", e.name, e.fault)
}

// params are the parameters of a question. Names in them may be anything, and may be empty.
type params map[string]string

// paramsOf takes apart the query of a request, which has some parameters and may have others. One that is not known is an error:
// the answer would be to another question.
func paramsOf(r *http.Request, needs, takes []string) (params, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &parameterError{fault: "the query can not be read: " + err.Error(), do: "escape what is not a letter or a digit as %XX"}
	}

	p, known := params{}, slices.Concat(needs, takes)

	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case len(known) == 0:
			return nil, &parameterError{name, "is not known", "leave it out: there are no parameters"}
		case !slices.Contains(known, name):
			return nil, &parameterError{name, "is not known", "use " + strings.Join(known, ", ")}
		case len(values[name]) > 1:
			return nil, &parameterError{name, "is given more than once", "ask once for each value"}
		}

		p[name] = values[name][0]
	}

	for _, name := range needs {
		if !p.has(name) {
			return nil, &parameterError{name, "is missing", "add " + name + "=…"}
		}
	}

	return p, nil
}

func (p params) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := p[name]

		return ok
	})
}

// state returns the state of controllers that is asked for; empty is all.
func (p params) state() (api.State, error) {
	state := api.State(p["state"])
	if state == "" || slices.Contains(api.States(), state) {
		return state, nil
	}

	names := make([]string, 0, len(api.States()))
	for _, s := range api.States() {
		names = append(names, string(s))
	}

	return "", &parameterError{"state", "is no state of a controller", "use " + strings.Join(names, ", ") + ", or leave it out"}
}

// limit returns how many are asked for at most: a number from 1 to a bound, or the default.
func (p params) limit(most, otherwise int) (int, error) {
	if !p.has("limit") {
		return otherwise, nil
	}

	n, err := strconv.Atoi(p["limit"])
	if err != nil || n < 1 || n > most {
		return 0, &parameterError{"limit", fmt.Sprintf("is %q", p["limit"]), fmt.Sprintf("use a number from 1 to %d", most)}
	}

	return n, nil
}

// resource returns the resource that is asked about.
func (p params) resource() api.Ref {
	return api.Ref{Namespace: p["namespace"], Type: p["type"], ID: p["id"]}
}

// pass returns the pass that is asked about.
func (p params) pass() (api.PassRef, error) {
	number, err := strconv.ParseUint(p["number"], 10, 64)
	if err != nil || number == 0 {
		return api.PassRef{}, &parameterError{"number", fmt.Sprintf("is %q", p["number"]), "use the number of a pass, from 1 on"}
	}

	return api.PassRef{Controller: p["controller"], Number: number}, nil
}

// ofResource tells whether a question is about a resource. If not, it is about a controller.
func (p params) ofResource() (bool, error) {
	resource, controller := p.has("namespace", "type", "id"), p.has("controller")

	switch {
	case resource && (controller || p.has("number")):
		return false, &parameterError{fault: "the question is about a resource and about a controller", do: "ask about one of them"}
	case !resource && !controller:
		return false, &parameterError{
			fault: "nothing was asked about", do: "add namespace=…&type=…&id=… for a resource, or controller=… for a controller",
		}
	}

	if resource {
		for _, name := range []string{"namespace", "type", "id"} {
			if !p.has(name) {
				return false, &parameterError{name, "is missing", "add " + name + "=…"}
			}
		}
	}

	return resource, nil
}
