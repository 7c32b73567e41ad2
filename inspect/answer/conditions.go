package answer

import (
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// conditions says which conditions of a resource do not hold. They are found by their form, a list "conditions" in the spec whose
// entries have a type and a status, as package operator and others write them; where there is none, by a field "ready" or "healthy"
// that is false. Of what is secret nothing is said.
func (s *search) conditions(ref api.Ref, res resource.Resource) (broken []string) {
	if s.secret(s.ctx, res) != "" {
		return nil
	}

	text, err := marshal(res.Spec())
	if err != nil {
		return nil
	}

	var spec struct {
		Conditions []struct {
			Type, Status, Reason, Message string
		} `yaml:"conditions"`
		Ready   *bool `yaml:"ready"`
		Healthy *bool `yaml:"healthy"`
	}

	if yaml.Unmarshal([]byte(text), &spec) != nil {
		return nil
	}

	for _, c := range spec.Conditions {
		if c.Type == "" || c.Status == "" || c.Status == "True" || c.Status == "true" {
			continue
		}

		text := fmt.Sprintf("%s is %s", c.Type, c.Status)

		if c.Reason != "" {
			text += ", " + c.Reason
		}

		if c.Message != "" {
			text += ": " + c.Message
		}

		broken = append(broken, text)
	}

	if len(spec.Conditions) > 0 {
		return broken
	}

	for _, flag := range []struct {
		name  string
		holds *bool
	}{{"ready", spec.Ready}, {"healthy", spec.Healthy}} {
		if flag.holds != nil && !*flag.holds {
			broken = append(broken, flag.name+" is false")
		}
	}

	// A flag does not say why; the line that the spec has for people may.
	if line := says(res); len(broken) > 0 && line != "" {
		broken = append(broken, line)
	}

	return broken
}

// mostSaid is how much of what a resource says of itself is told, in bytes.
const mostSaid = 500

// says is the line in which a resource sums itself up, where its spec can. It must be one that may be shown.
func says(res resource.Resource) (line string) {
	defer func() {
		if recover() != nil {
			line = ""
		}
	}()

	spec, ok := res.Spec().(fmt.Stringer)
	if !ok {
		return ""
	}

	if line = oneLine(spec.String()); len(line) > mostSaid {
		line = strings.ToValidUTF8(line[:mostSaid], "") + "…"
	}

	return line
}
