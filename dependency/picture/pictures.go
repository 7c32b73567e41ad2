// Package picture owns the pictures of a graph that changes: one for each revision of it, made in the background and kept.
//
// A layout takes up to seconds, and can not be interrupted, so nobody who asks for a picture waits for one. [Pictures.Get]
// returns what there is: the picture of the revision, or the one before it while another is being made. A graph of more
// than some hundred controllers is drawn as groups; see package grouped.
//
// A [Pictures] has at most one goroutine, which makes one picture, and for which [Pictures.Close] waits. The package links Graphviz, as
// package svg says.
package picture

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/dependency/grouped"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/dependency/svg"
)

// ErrClosed is why there is no picture after [Pictures.Close].
var ErrClosed = errors.New("picture: no pictures are made any more, since Close was called")

// Config says how pictures are made. The zero value means the defaults.
type Config struct {
	// Options returns the options of a picture of a graph, which is the smaller one where controllers were grouped: links, for
	// example. The default is none.
	Options func(*grouped.Grouping) []render.Option
	// Above is how many controllers are drawn each by itself; see grouped.Config.
	Above int
	// Rest is how long no other picture is made after one, or after one that has failed. Graphviz keeps some memory for each layout for
	// good, so a graph that keeps changing must not be drawn over and over. The default is 30 s.
	Rest time.Duration
	// Clock measures the rest. The default is the real one.
	Clock clockwork.Clock
	// Render makes a picture. The default is svg.Render.
	Render func(context.Context, io.Writer, *controller.DependencyGraph, ...render.Option) error
}

// Picture is what there is to be shown. The zero value is nothing.
type Picture struct {
	// SVG is the document, or nil if there is none yet. It must not be changed.
	SVG []byte
	// Grouping is what the document shows; nil if there is none yet.
	Grouping *grouped.Grouping
	// Ready tells that the document is that of the revision that was asked for, and not of a former one.
	Ready bool
	// Err is why there is no document of the revision. It is not tried again before there is another revision.
	Err error
}

// Pictures makes and keeps pictures of one graph. All methods are safe for concurrent use.
type Pictures struct {
	cfg    Config
	ctx    context.Context
	cancel context.CancelFunc
	making sync.WaitGroup

	// grouping guards groups, which are those of the graph of the revision groupsOf; nil before anybody has asked. It is held while a
	// graph is grouped.
	grouping sync.Mutex
	groups   *grouped.Grouping
	groupsOf uint64

	// mu guards what follows.
	mu     sync.Mutex
	busy   bool
	closed bool
	// shown is the last picture that was made, of the revision of. There is none before the first.
	shown Picture
	of    uint64
	// failed is why there is no picture of the revision failedOf, or nil.
	failed   error
	failedOf uint64
	// ended is when the last attempt has ended.
	ended time.Time
}

// New returns an owner of pictures, which has to be closed.
func New(cfg Config) *Pictures {
	if cfg.Options == nil {
		cfg.Options = func(*grouped.Grouping) []render.Option { return nil }
	}

	if cfg.Rest <= 0 {
		cfg.Rest = 30 * time.Second
	}

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	if cfg.Render == nil {
		cfg.Render = svg.Render
	}

	p := &Pictures{cfg: cfg}
	p.ctx, p.cancel = context.WithCancel(context.Background())

	return p
}

// Get returns the picture of the revision if it is there, and otherwise the former one, if there is any, and has another made
// unless one is being made, or has just been. Who wants to see it asks again. The graph is asked for in the background, and
// with it what has changed since the revision was: the methods GraphRevision and GetDependencyGraph of an engine fit.
func (p *Pictures) Get(revision uint64, graph func() (*controller.DependencyGraph, error)) Picture {
	p.mu.Lock()
	defer p.mu.Unlock()

	found := p.shown
	found.Ready = found.Grouping != nil && p.of == revision

	switch {
	case found.Ready:
		return found
	case p.closed:
		found.Err = ErrClosed

		return found
	case p.failed != nil && p.failedOf == revision:
		found.Err = p.failed

		return found
	case p.busy || !p.ended.IsZero() && p.cfg.Clock.Since(p.ended) < p.cfg.Rest:
		return found
	}

	p.busy = true

	p.making.Go(func() { p.makeOne(revision, graph) })

	return found
}

// Group returns the groups of the graph at a revision, which are what a picture of it shows, without a picture. It is asked for once for
// each revision. The error is that of graph.
func (p *Pictures) Group(revision uint64, graph func() (*controller.DependencyGraph, error)) (*grouped.Grouping, error) {
	p.grouping.Lock()
	defer p.grouping.Unlock()

	if p.groups != nil && p.groupsOf == revision {
		return p.groups, nil
	}

	err := contain.Call(func() error {
		g, err := graph()
		if err != nil {
			return err
		}

		p.groups, p.groupsOf = grouped.Group(g, grouped.Config{Above: p.cfg.Above}), revision

		return nil
	})
	if err != nil {
		return nil, err
	}

	return p.groups, nil
}

// Close waits for the picture that is being made, and has no further ones made. It may be called more than once.
func (p *Pictures) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()

	p.cancel()
	p.making.Wait()
}

// makeOne makes the picture of a revision, and keeps what has come of it.
func (p *Pictures) makeOne(revision uint64, graph func() (*controller.DependencyGraph, error)) {
	made, err := Picture{}, contain.ErrGoexit // unless it returns

	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()

		p.busy, p.ended = false, p.cfg.Clock.Now()

		if err != nil {
			p.failed, p.failedOf = err, revision
		} else {
			p.shown, p.of, p.failed = made, revision, nil
		}
	}()

	made, err = p.draw(revision, graph)
}

// draw calls what the host brings, none of which may end the process.
func (p *Pictures) draw(revision uint64, graph func() (*controller.DependencyGraph, error)) (Picture, error) {
	groups, err := p.Group(revision, graph)
	if err != nil {
		return Picture{}, err
	}

	var out bytes.Buffer

	err = contain.Call(func() error { return p.cfg.Render(p.ctx, &out, groups.Graph, p.cfg.Options(groups)...) })

	return Picture{SVG: out.Bytes(), Grouping: groups}, err
}
