package inspect

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// link is a link from any page to another one. Queries escape all that names may contain, so the link is inert, and the same bytes
// come back.
func link(page string, query url.Values) template.URL {
	return template.URL(page + "?" + query.Encode())
}

func controllerQuery(name string) url.Values { return url.Values{"name": {name}} }

func passQuery(p api.PassRef) url.Values {
	return url.Values{"controller": {p.Controller}, "number": {strconv.FormatUint(p.Number, 10)}}
}

func refQuery(r api.Ref) url.Values {
	return url.Values{"namespace": {r.Namespace}, "type": {r.Type}, "id": {r.ID}}
}

func controllerLink(name string) template.URL { return link("controller", controllerQuery(name)) }

func passLink(p api.PassRef) template.URL { return link("pass", passQuery(p)) }

// resourceLink leads to a resource.
func resourceLink(r api.Ref) template.URL { return link("resource", refQuery(r)) }

// kindLink leads to the resources of a kind.
func kindLink(namespace, typ string) template.URL {
	return link("resources", url.Values{"namespace": {namespace}, "type": {typ}})
}

// typeLink leads to the resources of a type in whichever namespace.
func typeLink(typ string) template.URL { return link("resources", url.Values{"type": {typ}}) }

// nodeLinks returns what leads from a node of the graph to what it stands for. Names of nodes are UTF-8; links carry names as they are.
func nodeLinks(graph *controller.DependencyGraph) func(render.Node) string {
	raw := map[string]string{}

	for _, edge := range graph.Edges {
		for _, name := range []string{edge.ControllerName, edge.ResourceNamespace, edge.ResourceType} {
			if !utf8.ValidString(name) {
				raw[strings.ToValidUTF8(name, string(utf8.RuneError))] = name
			}
		}
	}

	whole := func(name string) string {
		if was, ok := raw[name]; ok {
			return was
		}

		return name
	}

	return func(n render.Node) string {
		switch {
		case n.Kind == render.Controller:
			return string(controllerLink(whole(n.Name)))
		case n.Namespace == "":
			return string(typeLink(whole(n.Type)))
		default:
			return string(kindLink(whole(n.Namespace), whole(n.Type)))
		}
	}
}
