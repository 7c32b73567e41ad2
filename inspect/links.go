package inspect

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-run/switchyard/dependency/grouped"
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

// groupLink leads to the members of a group of the picture.
func groupLink(name string) template.URL { return link("group", url.Values{"name": {name}}) }

// nodeLinks returns what leads from a node of the picture to what it stands for. Names of nodes are UTF-8; links carry names as they
// are.
func nodeLinks(grouping *grouped.Grouping) func(render.Node) string {
	raw := map[string]string{}

	for _, edge := range grouping.Graph.Edges {
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

	controllers, types := several(grouping.Controllers), several(grouping.Types)

	return func(n render.Node) string {
		name, typ, namespace := whole(n.Name), whole(n.Type), whole(n.Namespace)

		switch {
		case n.Kind == render.Controller && controllers[name]:
			return string(groupLink(name))
		case n.Kind == render.Controller:
			return string(controllerLink(name))
		case types[typ]:
			return string(groupLink(typ))
		case namespace == "":
			return string(typeLink(typ))
		default:
			return string(kindLink(namespace, typ))
		}
	}
}

// several are the names of those nodes that stand for more than one.
func several(groups []grouped.Members) map[string]bool {
	names := map[string]bool{}

	for i := range groups {
		if len(groups[i].Names) > 1 {
			names[groups[i].Name] = true
		}
	}

	return names
}
