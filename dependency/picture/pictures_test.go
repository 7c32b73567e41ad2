package picture_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/contain"
	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/grouped"
	"github.com/switchyard-run/switchyard/dependency/picture"
	"github.com/switchyard-run/switchyard/dependency/render"
	"github.com/switchyard-run/switchyard/dependency/svg"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sample() (*controller.DependencyGraph, error) { return graphtest.Sample(), nil }

// printer makes pictures that are a number, as soon as it is let.
type printer struct {
	let   chan error
	begun atomic.Int64
}

func newPrinter() *printer { return &printer{let: make(chan error)} }

func (p *printer) render(_ context.Context, w io.Writer, _ *controller.DependencyGraph, _ ...render.Option) error {
	n := p.begun.Add(1)

	if err := <-p.let; err != nil {
		return err
	}

	_, err := fmt.Fprint(w, n)

	return err
}

// Nobody waits for a picture; while one is made, the former one is shown, and no other one is begun.
func TestFormerPictureIsShownMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := newPrinter()
		p := picture.New(picture.Config{Render: press.render, Rest: time.Second})

		defer p.Close()

		assert.Equal(t, picture.Picture{}, p.Get(1, sample))
		assert.Equal(t, picture.Picture{}, p.Get(2, sample))
		synctest.Wait()
		assert.EqualValues(t, 1, press.begun.Load(), "one at a time")

		press.let <- nil
		synctest.Wait()

		first := p.Get(1, sample)
		assert.Equal(t, "1", string(first.SVG))
		assert.True(t, first.Ready)
		assert.Len(t, first.Grouping.Graph.Edges, len(graphtest.Sample().Edges))

		time.Sleep(time.Second)

		former := p.Get(2, sample)
		assert.Equal(t, "1", string(former.SVG))
		assert.False(t, former.Ready)
		assert.True(t, p.Get(1, sample).Ready, "it still is that of its revision")

		press.let <- nil
		synctest.Wait()

		assert.Equal(t, "2", string(p.Get(2, sample).SVG))
		assert.True(t, p.Get(2, sample).Ready)
		assert.EqualValues(t, 2, press.begun.Load())
	})
}

// A graph that keeps changing is not drawn over and over.
func TestRestBetweenPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := newPrinter()
		p := picture.New(picture.Config{Render: press.render, Rest: time.Minute})

		defer p.Close()

		close(press.let)

		for revision := range uint64(601) { // ten minutes
			p.Get(revision, sample)
			synctest.Wait()
			time.Sleep(time.Second)
		}

		assert.EqualValues(t, 11, press.begun.Load())
	})
}

// What has failed is told for as long as the graph stays, and not tried again before it has changed.
func TestFailuresAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := newPrinter()
		p := picture.New(picture.Config{Render: press.render, Rest: time.Second})

		defer p.Close()

		p.Get(1, sample)
		press.let <- nil
		synctest.Wait()
		time.Sleep(time.Second)

		p.Get(2, sample)
		press.let <- svg.ErrTooLarge
		synctest.Wait()
		time.Sleep(time.Hour)

		failed := p.Get(2, sample)
		require.ErrorIs(t, failed.Err, svg.ErrTooLarge)
		assert.False(t, failed.Ready)
		assert.Equal(t, "1", string(failed.SVG), "the former one")
		synctest.Wait()
		assert.EqualValues(t, 2, press.begun.Load())

		assert.NoError(t, p.Get(3, sample).Err)
		press.let <- nil
		synctest.Wait()
		assert.Equal(t, "3", string(p.Get(3, sample).SVG))
	})
}

// Nothing that the host brings ends the process, or pictures for good.
func TestCallbacksThatDoNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := newPrinter()
		close(press.let)

		p := picture.New(picture.Config{Render: press.render, Rest: time.Nanosecond})
		defer p.Close()

		broken := errors.New("broken")

		for revision, graph := range []func() (*controller.DependencyGraph, error){
			func() (*controller.DependencyGraph, error) { panic(broken) },
			func() (*controller.DependencyGraph, error) { runtime.Goexit(); return nil, nil },
			func() (*controller.DependencyGraph, error) { return nil, broken },
		} {
			p.Get(uint64(revision), graph)
			synctest.Wait()
			time.Sleep(time.Second)

			want := broken
			if revision == 1 {
				want = contain.ErrGoexit
			}

			require.ErrorIs(t, p.Get(uint64(revision), graph).Err, want)
		}

		p.Get(9, sample)
		synctest.Wait()
		assert.True(t, p.Get(9, sample).Ready)
	})
}

// Close waits for what is being made, and afterwards there is what there was.
func TestCloseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		press := newPrinter()
		p := picture.New(picture.Config{Render: press.render})
		closed := make(chan struct{})

		p.Get(1, sample)
		synctest.Wait()

		go func() {
			defer close(closed)

			p.Close()
		}()

		synctest.Wait()

		select {
		case <-closed:
			require.Fail(t, "it has not waited")
		default:
		}

		require.ErrorIs(t, p.Get(2, sample).Err, picture.ErrClosed)

		press.let <- nil
		<-closed
		p.Close()

		assert.True(t, p.Get(1, sample).Ready)
		require.ErrorIs(t, p.Get(2, sample).Err, picture.ErrClosed)
		assert.EqualValues(t, 1, press.begun.Load())
	})
}

// A thousand controllers are drawn, in groups, with links to them.
func TestThousandControllers(t *testing.T) {
	g := graphtest.Graph()

	for i := range 1000 {
		name := fmt.Sprintf("Controller%04d", i)
		g.Edges = append(g.Edges, graphtest.Edge(name, controller.EdgeOutputExclusive, "", fmt.Sprintf("Type%04d", i), ""))

		for j := max(0, i-3); j < i; j++ {
			g.Edges = append(g.Edges, graphtest.Edge(name, controller.EdgeInputWeak, "n", fmt.Sprintf("Type%04d", j), ""))
		}
	}

	drawn := make(chan struct{})
	p := picture.New(picture.Config{
		Options: func(grouping *grouped.Grouping) []render.Option {
			assert.True(t, grouping.Grouped())

			return []render.Option{render.WithLinks(func(n render.Node) string { return "controllers?group=" + n.ID })}
		},
		Render: func(ctx context.Context, w io.Writer, g *controller.DependencyGraph, opts ...render.Option) error {
			defer close(drawn)

			return svg.Render(ctx, w, g, opts...)
		},
	})

	p.Get(1, func() (*controller.DependencyGraph, error) { return g, nil })
	<-drawn
	p.Close()

	found := p.Get(1, nil)
	require.NoError(t, found.Err)
	assert.True(t, found.Ready)
	assert.Contains(t, string(found.SVG), `data-controller="`+found.Grouping.Of("Controller0777")+`"`)
	assert.Contains(t, string(found.SVG), `href="controllers?group=c1"`)
}
