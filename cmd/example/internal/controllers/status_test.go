package controllers_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/example/internal/controllers"
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// running is the status of a process of a service.
func running(svc *resources.Service, instance uint64, started time.Time) *resources.ProcessStatus {
	st := resources.NewProcessStatus(svc.Metadata().ID())
	*st.TypedSpec() = resources.ProcessStatusSpec{
		Revision: svc.TypedSpec().Revision(), State: string(supervise.Running), Instance: instance, PID: 42,
		Started: started, Settled: true,
	}

	return st
}

func process(svc *resources.Service) *resources.Process {
	p := resources.NewProcess(svc.Metadata().ID())
	p.TypedSpec().Revision = svc.TypedSpec().Revision()

	return p
}

func health(name string, instance uint64, verdict resources.Verdict) *resources.HealthStatus {
	h := resources.NewHealthStatus(name)
	*h.TypedSpec() = resources.HealthStatusSpec{Instance: instance, Verdict: verdict, Message: "because"}

	return h
}

func TestTheStatusOfAService(t *testing.T) {
	b := run(t, func(engine controller.Engine) error {
		return engine.RegisterQController(controllers.NewServiceStatusController())
	})

	svc := service("web", "db")
	b.put(svc)

	expect := func(state string, ready bool) {
		t.Helper()

		st := await(b, "web", func(st *resources.ServiceStatus) bool { return st.TypedSpec().State == state })
		assert.Equal(t, ready, st.TypedSpec().Ready, state)
		assert.Equal(t, svc.TypedSpec().Revision(), st.TypedSpec().Revision)
	}

	expect("pending", false)

	p := process(svc)
	p.TypedSpec().WaitingFor = []string{"db"}
	b.put(p)

	held := running(svc, 0, time.Time{})
	held.TypedSpec().State = string(supervise.Held)
	b.put(held)
	expect("waiting", false)

	p.TypedSpec().WaitingFor = nil
	b.put(p)

	fresh := running(svc, 1, time.Time{})
	fresh.TypedSpec().Settled = false
	b.put(fresh)
	expect("starting", false)

	b.put(running(svc, 1, time.Time{}))
	expect("running", true)

	// With a check, running is not enough, and the checks of an earlier process do not count.
	p.TypedSpec().HealthURL = "http://127.0.0.1"
	b.put(p)
	b.put(health("web", 0, resources.Failing))
	expect("starting", false)

	for _, c := range []struct {
		verdict resources.Verdict
		state   string
		ready   bool
	}{
		{resources.Passing, "running", true},
		{resources.Doubtful, "doubtful", true},
		{resources.Failing, "failing", false},
		{resources.Starting, "starting", false},
	} {
		b.put(health("web", 1, c.verdict))
		expect(c.state, c.ready)
	}

	failed := running(svc, 1, time.Time{})
	failed.TypedSpec().State, failed.TypedSpec().PID = string(supervise.Waiting), 0
	b.put(failed)
	expect("failed", false)

	done := running(svc, 1, time.Time{})
	done.TypedSpec().State = string(supervise.Done)
	b.put(done)
	expect("done", true)

	// What runs is not what the document says any more.
	svc.TypedSpec().Env = map[string]string{"A": "1"}
	b.put(svc)
	expect("updating", false)
}

func TestHealthChecks(t *testing.T) {
	var code atomic.Int64

	code.Store(http.StatusServiceUnavailable)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(code.Load())) }))
	defer server.Close()

	clock := clockwork.NewFakeClock()
	b := run(t, func(engine controller.Engine) error {
		return engine.RegisterQController(&controllers.HealthController{Clock: clock})
	})

	svc := service("web")
	p := process(svc)
	p.TypedSpec().HealthURL = server.URL
	p.TypedSpec().Health = document.Health{
		Interval: 5 * time.Millisecond, Timeout: patience, Failures: 3, Grace: time.Minute,
	}

	b.put(p)
	b.put(running(svc, 1, clock.Now().UTC().Round(0)))

	verdict := func(want resources.Verdict) resources.HealthStatusSpec {
		t.Helper()

		return *await(b, "web", func(h *resources.HealthStatus) bool { return h.TypedSpec().Verdict == want }).TypedSpec()
	}

	// A fresh process may take its time, but not for ever.
	assert.Contains(t, verdict(resources.Starting).Message, "answered 503")
	clock.Advance(2 * time.Minute)
	verdict(resources.Failing)

	code.Store(http.StatusNoContent)
	assert.Equal(t, resources.HealthStatusSpec{Instance: 1, Verdict: resources.Passing}, verdict(resources.Passing))

	// Once well, it takes several failures in a row.
	code.Store(http.StatusFound)
	assert.Less(t, verdict(resources.Doubtful).Failures, 3)
	assert.Equal(t, 3, verdict(resources.Failing).Failures)

	// Another process begins anew.
	b.put(running(svc, 2, clock.Now().UTC().Round(0)))
	assert.Equal(t, uint64(2), verdict(resources.Starting).Instance)

	// Without a process there is nothing to be said.
	b.drop(running(svc, 2, time.Time{}))
	b.awaitGone(resources.NewHealthStatus("web"))
}

// written is the status of a file that is in place.
func written(file *resources.File) *resources.FileStatus {
	st := resources.NewFileStatus(file.Metadata().ID())
	*st.TypedSpec() = resources.FileStatusSpec{InPlace: true, Digest: file.TypedSpec().Digest}

	return st
}

func TestWhatIsMissing(t *testing.T) {
	var engine controller.Engine

	b := run(t, func(e controller.Engine) error {
		engine = e

		return engine.RegisterController(&controllers.MachineStatusController{})
	})

	missing := func(want ...string) {
		t.Helper()

		await(b, resources.TheMachine, func(m *resources.MachineStatus) bool {
			return assert.ObjectsAreEqual(want, m.TypedSpec().Missing) && m.TypedSpec().Ready == (len(want) == 0)
		})
	}

	missing("document: has not been read yet")

	config := resources.NewConfigStatus()
	*config.TypedSpec() = resources.ConfigStatusSpec{
		Refused: true, Problems: []document.Problem{{Line: 1, Column: 2, Field: "hostname", Message: "is missing"}},
	}
	b.put(config)
	missing("document: 1:2: hostname: is missing")

	// A file that is in place, of a time before the document was changed, does not count.
	old := resources.NewFile("etc/hostname")
	old.TypedSpec().Set("old\n", 0o644)
	old.TypedSpec().Revision = old.TypedSpec().Digest
	b.put(old)
	b.put(written(old))

	svc := service("web")
	doc := resources.NewDocument()
	*doc.TypedSpec() = resources.DocumentSpec{Generation: 1, Machine: document.Machine{
		Hostname: "box", Files: []document.File{{Path: "a", Content: "{{ .Hostname }}", Mode: 0o644}},
		Services: []document.Service{document.Service(*svc.TypedSpec())},
	}}
	b.put(doc)

	paths := []string{"a", "etc/hostname", "etc/hosts", "etc/ntp.conf", "etc/resolv.conf"}

	each := func(reason string) (all []string) {
		for _, path := range paths {
			all = append(all, "file "+path+": "+reason)
		}

		return append(all, "service web: pending")
	}

	missing(each("has not been rendered yet")...)

	b.drop(written(old))
	b.drop(old)
	require.NoError(t, registerRenderers(engine))
	missing(each("has not been written yet")...)

	for _, path := range paths {
		st := written(await(b, path, any[*resources.File]))

		if path == "etc/hosts" {
			st.TypedSpec().InPlace, st.TypedSpec().Message = false, "the disk is full"
		}

		b.put(st)
	}

	missing("file etc/hosts: the disk is full", "service web: pending")

	// A status about another state of the service does not count.
	st := status("web", true)
	b.put(st)

	st.TypedSpec().Revision = svc.TypedSpec().Revision()
	b.put(st)
	missing("file etc/hosts: the disk is full")

	b.put(service("old"))
	b.put(resources.NewFile("gone"))
	missing("file etc/hosts: the disk is full", "file gone: has left the document and is being removed",
		"service old: has left the document and is being stopped")

	b.put(written(await(b, "etc/hosts", any[*resources.File])))
	b.drop(service("old"))
	b.drop(resources.NewFile("gone"))
	missing()

	power := resources.NewPowerState()
	power.TypedSpec().Off = true
	b.put(power)
	missing("machine: is being stopped")
}
