package answer

import (
	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/dependency/analysis"
	"github.com/switchyard-run/switchyard/inspect/api"
)

// Declarations are what the controllers of an engine have declared at one moment.
type Declarations struct {
	// Findings are what is to be said of them.
	Findings []api.Finding

	inputs map[declared]struct{}
}

type declared struct {
	controller string
	input      api.Input
}

// Declarations returns what the controllers have declared. Its cost is linear in that.
func (a *Answers) Declarations() (*Declarations, error) {
	graph, err := a.cfg.Engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	d := &Declarations{findingsOf(analysis.Analyze(graph)), map[declared]struct{}{}}

	for name, inputs := range edgesOf(graph).inputs {
		for _, in := range inputs {
			d.inputs[declared{name, in}] = struct{}{}
		}
	}

	return d, nil
}

// Input returns the input through which a controller was told of a cause.
func (d *Declarations) Input(controller string, c *cause.Cause) (in api.Input, ok bool) {
	in = api.Input{Ref: refOf(c.Resource), Kind: inputKind(c.Input)}

	if _, ok = d.inputs[declared{controller, in}]; !ok {
		in.ID = ""
		_, ok = d.inputs[declared{controller, in}]
	}

	return in, ok
}
