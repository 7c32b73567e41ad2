package document

import (
	"slices"
	"strconv"
	"strings"
)

// checkServices finds what is wrong between services: names and ports given twice, needs that name nobody, variables
// that nobody sets, and circles.
func checkServices(all []placed) {
	byName := make(map[string]placed)
	names, ports := make(map[string]value), make(map[string]value)

	for _, s := range all {
		if s.Name != "" && unique(names, s.name, s.Name) {
			byName[s.Name] = s
		}

		if s.Port > 0 {
			unique(ports, s.port, strconv.Itoa(s.Port))
		}
	}

	for _, s := range all {
		seen := make(map[string]value)

		for _, need := range s.needs {
			switch name := need.node.Value; {
			case name == s.Name:
				need.refuse("a service cannot need itself")
			case !unique(seen, need, name):
			default:
				if _, ok := names[name]; !ok {
					need.refuse("there is no service %q", name)
				}
			}
		}

		checkVariables(s, byName)
	}

	checkCircles(all, byName)
}

// checkVariables reports variables in a command that would be empty when the service is started.
func checkVariables(s placed, byName map[string]placed) {
	known := []string{VarSelf, VarRoot, VarName}

	if s.Port != 0 {
		known = append(known, VarPort, VarAddress)
	}

	for _, need := range s.Needs {
		if byName[need].Port != 0 {
			known = append(known, AddressVariable(need))
		}
	}

	for _, word := range s.command {
		Expand(word.node.Value, func(name string) string {
			if _, ok := s.Env[name]; !ok && !slices.Contains(known, name) {
				word.refuse("$%s is not set for this service; set are %s and what its env says (write $$ for a dollar sign)",
					name, strings.Join(known, ", "))
			}

			return ""
		})
	}
}

// checkCircles reports each circle of needs once, at the need that closes it.
func checkCircles(all []placed, byName map[string]placed) {
	const (
		unseen = iota
		open
		done
	)

	state := make(map[string]int)

	var (
		path  []string
		visit func(s placed)
	)

	visit = func(s placed) {
		state[s.Name] = open
		path = append(path, s.Name)

		for _, need := range s.needs {
			name := need.node.Value
			next, ok := byName[name]

			switch {
			case !ok || name == s.Name:
			case state[name] == unseen:
				visit(next)
			case state[name] == open:
				circle := append(slices.Clone(path[slices.Index(path, name):]), name)
				need.refuse("services need each other in a circle: %s", strings.Join(circle, " -> "))
			}
		}

		path = path[:len(path)-1]
		state[s.Name] = done
	}

	for _, s := range all {
		if _, ok := byName[s.Name]; ok && state[s.Name] == unseen {
			visit(byName[s.Name])
		}
	}
}
