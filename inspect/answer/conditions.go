package answer

import (
	"fmt"

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

	for name, holds := range map[string]*bool{"ready": spec.Ready, "healthy": spec.Healthy} {
		if holds != nil && !*holds {
			broken = append(broken, name+" is false")
		}
	}

	return broken
}
