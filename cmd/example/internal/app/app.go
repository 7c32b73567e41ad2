// Package app owns the control plane as a whole: it puts state, engine, controllers, supervisor and servers together,
// and takes them apart again in the right order.
//
// [Run] starts one goroutine, for the engine; the servers and the supervisor start their own. All have ended when it
// returns.
package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/apply"
	"github.com/switchyard-run/switchyard/inspect"

	"github.com/switchyard-run/switchyard/cmd/example/internal/api"
	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
	"github.com/switchyard-run/switchyard/cmd/example/internal/web"
)

// history is how many events of each type the state remembers. A watch that falls behind by more has to begin anew.
const history = 10_000

// ErrHardStop is returned when the user did not want to wait for services to stop.
var ErrHardStop = errors.New("stopped hard: services were killed")

// plane is a control plane that is being put together, runs, or is being taken apart.
type plane struct {
	opts Options
	root *os.Root
	// dir is the absolute path of root, config that of the document.
	dir, config string

	// listeners are open from early on, and handed to the servers when there is something to serve.
	listeners struct{ pages, api net.Listener }

	state      state.State
	record     *record
	supervisor *supervise.Supervisor
	engine     engine
	inspect    *inspect.Handler
	pages      *web.Server
	api        *api.Server

	// stopEngine ends the context of the engine. ended is done when the engine has returned engineErr.
	stopEngine context.CancelFunc
	ended      context.Context
	engineErr  error
}

// engine is what the control plane needs of an engine: what the contract knows of one, and what can be seen of it.
type engine interface {
	controller.Engine
	inspect.Engine
}

// Run runs the control plane until the first context ends, and stops it in order then: services first, dependents
// before what they need. The second context is for those who do not want to wait; when it ends, services are killed
// and the error is [ErrHardStop]. With [Options.Once] it stops as soon as the machine is ready.
func Run(ctx, hard context.Context, opts Options) (err error) {
	p := &plane{opts: opts}

	defer func() {
		err = errors.Join(err, p.close(hard))
	}()

	if err := p.open(ctx); err != nil {
		return err
	}

	p.start()

	if opts.Once {
		err = p.once(ctx)
	} else {
		err = p.serve(ctx)
	}

	// The engine still runs, and stops the services in order.
	return errors.Join(err, p.powerOff(hard))
}

// open puts together what has to be there before anything runs. What it has opened is closed by close, also after an
// error.
func (p *plane) open(ctx context.Context) (err error) {
	if p.root, p.dir, err = openRoot(p.opts.Root); err != nil {
		return fmt.Errorf("-root %s: %w", p.opts.Root, err)
	}

	if p.config, err = findDocument(p.opts, p.root, p.dir); err != nil {
		return err
	}

	// Addresses come early: whoever asked for one that is taken should not have to wait for services to stop.
	if err := p.listen(ctx); err != nil {
		return err
	}

	p.state = newState()

	if p.opts.Record != "" {
		if p.record, err = openRecord(p.opts.Record); err != nil {
			return fmt.Errorf("-record: %w", err)
		}

		p.state = p.record.State(p.state)
	}

	if err := resources.Register(ctx, p.state); err != nil {
		return err
	}

	return p.assemble()
}

func newState() state.State {
	return state.WrapCore(resources.Stamped(namespaced.NewState(func(ns string) state.CoreState {
		return inmem.NewStateWithOptions(inmem.WithHistoryMaxCapacity(history))(ns)
	})))
}

// listen opens the addresses that were asked for.
func (p *plane) listen(ctx context.Context) (err error) {
	if p.opts.Once {
		return nil
	}

	if p.opts.HTTP != "" {
		if p.listeners.pages, err = (&net.ListenConfig{}).Listen(ctx, "tcp", p.opts.HTTP); err != nil {
			return fmt.Errorf("the pages cannot be served at -http %s: %w; choose another address with -http HOST:PORT, or none with -http \"\"",
				p.opts.HTTP, err)
		}

		// A name may stand for any address.
		if addr, ok := p.listeners.pages.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() && !p.opts.HTTPOpen {
			return fmt.Errorf("-http %s is %s, which others than the users of this machine could connect to", p.opts.HTTP, addr)
		}
	}

	if p.opts.GRPC.Network != "" {
		if p.listeners.api, err = p.opts.GRPC.Listen(ctx); err != nil {
			return fmt.Errorf("the state cannot be offered at -grpc %s: %w", p.opts.GRPC, err)
		}
	}

	return nil
}

func (p *plane) assemble() error {
	tree, err := files.Open(p.root, document.DirState+"/files.json")
	if err != nil {
		return fmt.Errorf("-root %s: %w", p.dir, err)
	}

	var wake controllers.Wake

	clock := clockwork.NewRealClock()

	if p.supervisor, err = supervise.Open(supervise.Config{
		Root: p.root, Dir: p.dir, LogDir: document.DirLogs, RunDir: document.DirRun,
		Logger: p.opts.Logger.Named("supervisor"), Clock: clock, Notify: wake.Up,
	}); err != nil {
		return fmt.Errorf("-root %s: %w", p.dir, err)
	}

	self, err := os.Executable()
	if err != nil {
		return err
	}

	engine, err := newEngine(p.state, p.opts.Logger.Named("engine"))
	if err != nil {
		return err
	}

	p.engine = engine

	return controllers.Register(p.record.Engine(engine), controllers.World{
		Document: p.config, Dir: p.dir, Self: self, Tree: tree, Supervisor: p.supervisor, Wake: &wake, Clock: clock,
		Logger: p.opts.Logger,
	})
}

// start starts the engine and the servers, and tells the user where things are.
func (p *plane) start() {
	// The context of the engine is its own: it has to outlive the wish to stop, as it does the stopping.
	ctx, cancel := context.WithCancel(context.Background())
	ended, end := context.WithCancel(context.Background())

	p.stopEngine, p.ended = cancel, ended

	go func() { // close ends it and waits for it
		defer end()

		p.engineErr = p.engine.Run(ctx)
	}()

	out := p.opts.Out
	fmt.Fprintf(out, "root    %s\nconfig  %s\n", p.dir, p.config)

	if l := p.listeners.pages; l != nil {
		p.inspect = inspect.New(inspect.Config{
			Title: "Appliance", Engine: p.engine, State: p.state, Logger: p.opts.Logger.Named("inspect"), Hosts: p.hosts(),
		})
		handler := web.Handler(web.Source{
			Graph: p.graph, Missing: p.missing, Notes: p.notes, Health: p.health, Inspect: p.inspect,
			Apply: p.apply(), Hosts: p.hosts(), Token: p.opts.Token, Logger: p.opts.Logger,
		})
		p.pages, p.listeners.pages = web.Serve(l, handler, p.opts.Logger), nil

		fmt.Fprintf(out, "http    http://%s/\ninspect http://%s/inspect/\n", l.Addr(), l.Addr())
	}

	if l := p.listeners.api; l != nil {
		p.api, p.listeners.api = api.Serve(l, p.state, p.opts.Logger), nil

		fmt.Fprintf(out, "grpc    %s:%s\n", l.Addr().Network(), l.Addr())
	}
}

// apply takes resources from whoever may ask for a page, if it was asked for.
func (p *plane) apply() http.Handler {
	if !p.opts.Apply {
		return nil
	}

	return apply.New(apply.Config{
		State: api.Offered(p.state), Allow: api.Allow, Hosts: p.hosts(), Logger: p.opts.Logger.Named("apply"),
	})
}

// hosts are the names that pages may be asked for by, beside local ones: those of this machine if others may ask.
func (p *plane) hosts() []string {
	if !p.opts.HTTPOpen {
		return nil
	}

	hosts := []string{p.opts.HTTP}

	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}

	return hosts
}

// serve waits until the user has had enough, or the engine has.
func (p *plane) serve(ctx context.Context) error {
	select {
	case <-ctx.Done():
		p.opts.Logger.Info("stopping; once more stops at once")

		return nil
	case <-p.ended.Done():
		return errors.New("the engine has ended by itself")
	}
}

// powerOff asks the controllers to stop all services and waits for it, unless the user does not want to, or the engine
// has ended and stops nothing any more. What is left of the services then is for the supervisor.
func (p *plane) powerOff(hard context.Context) error {
	ctx, cancel := context.WithCancel(hard)
	defer cancel()

	defer context.AfterFunc(p.ended, cancel)()

	if err := powerOff(ctx, p.state); err != nil && ctx.Err() == nil {
		return err
	}

	return nil
}

// close takes apart what was put together, in the reverse order. Each part may be missing.
func (p *plane) close(hard context.Context) error {
	var failures []error

	if p.stopEngine != nil {
		p.stopEngine()

		<-p.ended.Done()

		if p.engineErr != nil && !errors.Is(p.engineErr, context.Canceled) {
			failures = append(failures, fmt.Errorf("engine: %w", p.engineErr))
		}
	}

	failures = append(failures, p.record.close(p.opts.Logger))

	for _, l := range []net.Listener{p.listeners.pages, p.listeners.api} {
		if l != nil {
			failures = append(failures, l.Close())
		}
	}

	if p.inspect != nil {
		p.inspect.Close() // whoever watches would keep the server from stopping
	}

	failures = append(failures, p.pages.Stop())

	p.api.Stop()

	if p.supervisor != nil {
		err := p.supervisor.Close(hard)
		if hard.Err() != nil {
			err = ErrHardStop
		}

		failures = append(failures, err)
	}

	if p.root != nil {
		failures = append(failures, p.root.Close())
	}

	return errors.Join(failures...)
}

// graph draws the controllers of the running engine.
func (p *plane) graph(ctx context.Context, format string) ([]byte, error) {
	graph, err := p.engine.GetDependencyGraph()
	if err != nil {
		return nil, err
	}

	return drawGraph(ctx, graph, format)
}
