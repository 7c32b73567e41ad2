package controllers_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

func copySpec(to, from resource.Resource) error {
	target, source := reflect.ValueOf(to.Spec()).Elem(), reflect.ValueOf(from.DeepCopy().Spec()).Elem()
	if target.Type() != source.Type() {
		return fmt.Errorf("%T is not %T", from, to)
	}

	target.Set(source)

	return nil
}

func service(name string, needs ...string) *resources.Service {
	svc := resources.NewService(name)
	*svc.TypedSpec() = resources.ServiceSpec{
		Name: name, Kind: document.Daemon, Command: []string{"$SELF", "--root=$ROOT", name}, Needs: needs,
	}

	for _, need := range needs {
		svc.Metadata().Labels().Set(resources.NeedLabel(need), "")
	}

	return svc
}

func endpoint(name, address string) *resources.Endpoint {
	ep := resources.NewEndpoint(name)
	*ep.TypedSpec() = resources.EndpointSpec{Port: 80, Address: address}

	return ep
}

func runService(t *testing.T) *bench {
	t.Helper()

	return run(t, registerServices)
}

func registerServices(engine controller.Engine) error {
	return operator.Register(engine, controllers.NewServiceController("/bin/self", "/root").WithoutEvents(), controllers.NewRestartController())
}

func any[R resource.Resource](R) bool { return true }

func TestAProcessIsFilledIn(t *testing.T) {
	b := runService(t)

	web := service("web", "db")
	web.TypedSpec().Port = document.PortAuto
	web.TypedSpec().Health.Path = "/well"
	web.TypedSpec().Env = map[string]string{"A": "1"}

	b.put(web)
	b.put(endpoint("web", "127.0.0.1:80"))
	b.put(endpoint("db", "127.0.0.1:81"))

	process := await(b, "web", func(p *resources.Process) bool {
		return len(p.TypedSpec().Env) == 7 // all of them, once both addresses are known
	})

	assert.Equal(t, []string{"/bin/self", "--root=/root", "web"}, process.TypedSpec().Command)
	assert.Equal(t, []string{
		"A=1", "ADDR=127.0.0.1:80", "DB_ADDR=127.0.0.1:81", "NAME=web", "PORT=80", "ROOT=/root", "SELF=/bin/self",
	}, process.TypedSpec().Env)
	assert.Equal(t, "http://127.0.0.1:80/well", process.TypedSpec().HealthURL)
	assert.Equal(t, []string{"db"}, process.TypedSpec().WaitingFor)
	assert.Equal(t, web.TypedSpec().Revision(), process.TypedSpec().Revision)
}

func TestAProcessIsLetGoOnce(t *testing.T) {
	b := runService(t)

	b.put(service("db"))
	b.put(service("web", "db"))
	await(b, "web", func(p *resources.Process) bool { return len(p.TypedSpec().WaitingFor) == 1 })

	b.put(running(service("db"), 1, time.Time{}))
	await(b, "web", func(p *resources.Process) bool { return len(p.TypedSpec().WaitingFor) == 0 })

	// What it needs fails, which does not stop it. The request is met after that, so the failure has been seen then.
	failed := running(service("db"), 1, time.Time{})
	failed.TypedSpec().State = string(supervise.Waiting)
	b.put(failed)
	await(b, "db", func(st *resources.ServiceStatus) bool { return !st.TypedSpec().Conditions.Holds(operator.Ready) })
	require.NoError(t, b.state.Create(t.Context(), resources.NewRestartRequest("web")))

	process := await(b, "web", func(p *resources.Process) bool { return p.TypedSpec().Attempt != "" })
	assert.Empty(t, process.TypedSpec().WaitingFor)

	b.awaitGone(resources.NewRestartRequest("web"))

	// Another definition has to wait again.
	changed := service("web", "db")
	changed.TypedSpec().Env = map[string]string{"A": "1"}
	b.put(changed)

	await(b, "web", func(p *resources.Process) bool {
		return p.TypedSpec().Revision == changed.TypedSpec().Revision() && len(p.TypedSpec().WaitingFor) == 1
	})
}

// TestAChangeOfBoth changes a service and what it needs: that the old one is ready is no reason to go ahead.
func TestAChangeOfBoth(t *testing.T) {
	b := runService(t)

	b.put(service("db"))
	b.put(running(service("db"), 1, time.Time{}))
	b.put(service("web", "db"))
	await(b, "web", func(p *resources.Process) bool { return len(p.TypedSpec().WaitingFor) == 0 })

	changed := func(svc *resources.Service) *resources.Service {
		svc.TypedSpec().Env = map[string]string{"A": "1"}

		return svc
	}

	db, web := changed(service("db")), changed(service("web", "db"))
	b.put(db)
	b.put(web)

	process := await(b, "web", func(p *resources.Process) bool { return p.TypedSpec().Revision == web.TypedSpec().Revision() })
	assert.Equal(t, []string{"db"}, process.TypedSpec().WaitingFor)

	b.put(running(db, 2, time.Time{}))
	await(b, "web", func(p *resources.Process) bool { return len(p.TypedSpec().WaitingFor) == 0 })
}

func TestProcessesGoInTheReverseOrder(t *testing.T) {
	for _, off := range []bool{false, true} {
		t.Run(map[bool]string{false: "leaving the document", true: "power off"}[off], func(t *testing.T) {
			b := runService(t)

			db, web := service("db"), service("web", "db")
			b.put(db)
			b.put(web)

			// Somebody holds the process of web, as the one who runs it does.
			await(b, "db", any[*resources.Process])
			process := await(b, "web", any[*resources.Process])
			require.NoError(t, b.state.AddFinalizer(t.Context(), process.Metadata(), "test"))

			if off {
				power := resources.NewPowerState()
				power.TypedSpec().Off = true
				b.put(power)
			} else {
				for _, svc := range []*resources.Service{db, web} {
					_, err := b.state.Teardown(t.Context(), svc.Metadata())
					require.NoError(t, err)
				}
			}

			await(b, "web", func(p *resources.Process) bool { return p.Metadata().Phase() == resource.PhaseTearingDown })

			held, err := b.state.Get(t.Context(), resources.NewProcess("db").Metadata())
			require.NoError(t, err)
			assert.Equal(t, resource.PhaseRunning, held.Metadata().Phase(), "db waits for web")

			require.NoError(t, b.state.RemoveFinalizer(t.Context(), process.Metadata(), "test"))
			b.awaitGone(resources.NewProcess("web"))
			b.awaitGone(resources.NewProcess("db"))

			if !off {
				b.drop(web)
				b.drop(db)
			}
		})
	}
}

func TestAServiceThatIsWantedAgain(t *testing.T) {
	b := runService(t)

	b.put(service("web"))
	process := await(b, "web", any[*resources.Process])
	require.NoError(t, b.state.AddFinalizer(t.Context(), process.Metadata(), "test"))

	power := resources.NewPowerState()
	power.TypedSpec().Off = true
	b.put(power)
	await(b, "web", func(p *resources.Process) bool { return p.Metadata().Phase() == resource.PhaseTearingDown })

	power.TypedSpec().Off = false
	b.put(power)
	require.NoError(t, b.state.RemoveFinalizer(t.Context(), process.Metadata(), "test"))

	await(b, "web", func(p *resources.Process) bool {
		return p.Metadata().Phase() == resource.PhaseRunning && !p.Metadata().Finalizers().Has("test")
	})
}

func TestARequestForNobodyGoes(t *testing.T) {
	b := runService(t)

	// An engine maps what happens while it runs. This tells that it does.
	b.put(service("somebody"))
	await(b, "somebody", any[*resources.Process])

	request := resources.NewRestartRequest("nobody")
	require.NoError(t, b.state.Create(t.Context(), request))
	b.awaitGone(request)

	_, err := b.state.Get(t.Context(), resources.NewProcess("nobody").Metadata())
	assert.True(t, state.IsNotFoundError(err))
}
