package svg

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/goccy/go-graphviz"

	"github.com/switchyard-run/switchyard/dependency/svg/internal/codecache"
)

// The go-graphviz module has been initialized by now, since this package imports it.
func init() { codecache.Restore() }

// graphvizModule is the one there is in the process.
var graphvizModule module

// remembered is how many layouts are kept.
const remembered = 4

// module takes turns on Graphviz. The go-graphviz module never gives back some of the memory that a layout takes, about a
// kilobyte for each edge, so the last layouts are kept: a page that shows the same graph again and again does not grow.
type module struct {
	// mu guards all that follows, and the one linear memory that Graphviz has in a process.
	mu sync.Mutex
	// viz is nil before the first layout, and after a failure, which may have left it in any state.
	viz *graphviz.Graphviz
	// answers has the last layouts, the most recent one first.
	answers []answered
}

type answered struct{ question, answer []byte }

// layout has Graphviz lay out a graph, and returns the answer as JSON, which must not be changed.
func (m *module) layout(ctx context.Context, question []byte) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if err := ctx.Err(); err != nil {
		return nil, err
	}

	known := slices.IndexFunc(m.answers, func(a answered) bool { return bytes.Equal(a.question, question) })
	if known >= 0 {
		found := m.answers[known]
		m.answers = slices.Insert(slices.Delete(m.answers, known, known+1), 0, found)

		return found.answer, nil
	}

	// A context that ends while the module runs must not reach it: it could be left in any state, for the whole process.
	answer, err := m.askLocked(context.WithoutCancel(ctx), question)
	if err != nil {
		m.viz = nil

		return nil, err
	}

	m.answers = slices.Insert(m.answers, 0, answered{question, answer})
	m.answers = m.answers[:min(len(m.answers), remembered)]

	return answer, nil
}

func (m *module) askLocked(ctx context.Context, question []byte) (answer []byte, err error) {
	// The module panics where its own calls fail.
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("graphviz: %v", p)
		}
	}()

	if m.viz == nil {
		if m.viz, err = graphviz.New(ctx); err != nil {
			return nil, err
		}
	}

	parsed, err := graphviz.ParseBytes(question)
	if err != nil {
		return nil, err
	}

	defer func() { err = errors.Join(err, parsed.Close()) }()

	var out bytes.Buffer

	err = m.viz.Render(ctx, parsed, "json0", &out)

	return out.Bytes(), err
}
