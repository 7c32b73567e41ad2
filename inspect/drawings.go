package inspect

import (
	"context"
	"strings"
	"sync"

	"github.com/cosi-project/runtime/pkg/controller"

	"github.com/switchyard-run/switchyard/dependency/grouped"
	"github.com/switchyard-run/switchyard/dependency/svg"
)

// drawings owns the pictures of the graph. One is drawn at a time, in a goroutine of its own, since that may take seconds; close waits
// for it.
type drawings struct {
	graph    func() (*controller.DependencyGraph, error)
	revision func() uint64

	// ctx ends when no picture is wanted any more.
	ctx     context.Context
	stop    context.CancelFunc
	drawing sync.WaitGroup

	// mu guards the fields below.
	mu     sync.Mutex
	closed bool
	// grouping is that of the graph at a revision, nil before anybody has asked.
	grouping *grouped.Grouping
	of       uint64
	// last is what was drawn last, nil before that, and busy tells that something is being drawn.
	last *drawing
	busy bool
}

// drawing is what was drawn of a graph at a revision. It does not change.
type drawing struct {
	revision uint64
	grouping *grouped.Grouping
	svg      string
	err      error
}

func newDrawings(graph func() (*controller.DependencyGraph, error), revision func() uint64) *drawings {
	ctx, stop := context.WithCancel(context.Background())

	return &drawings{graph: graph, revision: revision, ctx: ctx, stop: stop}
}

// close waits until nothing is drawn any more. A layout that has begun is waited for.
func (d *drawings) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()

	d.stop()
	d.drawing.Wait()
}

// get returns the groups of the graph as it is, and what was drawn last, or nil. If that is not of the graph as it is, ready is false,
// and it is being drawn.
func (d *drawings) get() (grouping *grouped.Grouping, last *drawing, ready bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()

	if revision := d.revision(); d.grouping == nil || revision != d.of {
		graph, err := d.graph()
		if err != nil {
			return nil, nil, false, err
		}

		d.grouping, d.of = grouped.Group(graph, grouped.Config{}), revision
	}

	if ready = d.last != nil && d.last.revision == d.of; !ready && !d.busy && !d.closed {
		d.busy = true

		grouping, revision := d.grouping, d.of
		d.drawing.Go(func() { d.draw(grouping, revision) }) // close waits for it
	}

	return d.grouping, d.last, ready, nil
}

func (d *drawings) draw(grouping *grouped.Grouping, revision uint64) {
	var out strings.Builder

	err := svg.Render(d.ctx, &out, grouping.Graph, pictureOptions(grouping)...)

	d.mu.Lock()
	defer d.mu.Unlock()

	d.last, d.busy = &drawing{revision, grouping, out.String(), err}, false
}
