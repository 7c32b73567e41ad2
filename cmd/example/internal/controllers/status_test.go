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

	"github.com/switchyard-run/switchyard/operator"

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
	b := runService(t)

	svc := service("web", "db")

	b.put(service("db"))
	b.put(svc)

	// The reason is none when the service is ready.
	expect := func(reason string) {
		t.Helper()

		await(b, "web", func(st *resources.ServiceStatus) bool {
			ready, _ := st.TypedSpec().Conditions.Get(operator.Ready)

			return ready.Status == operator.True && reason == "" || ready.Status == operator.False && ready.Reason == reason
		})
	}

	expect("Pending")

	held := running(svc, 0, time.Time{})
	held.TypedSpec().State = string(supervise.Held)
	b.put(held)
	expect("Waiting")

	b.put(running(service("db"), 1, time.Time{}))
	await(b, "web", func(p *resources.Process) bool { return len(p.TypedSpec().WaitingFor) == 0 })

	fresh := running(svc, 1, time.Time{})
	fresh.TypedSpec().Settled = false
	b.put(fresh)
	expect("Starting")

	b.put(running(svc, 1, time.Time{}))
	expect("")

	// What runs is not what the document says any more.
	svc.TypedSpec().Port, svc.TypedSpec().Health.Path = 80, "/healthz"
	b.put(svc)
	expect("Pending")
	b.put(endpoint("web", "127.0.0.1:80"))
	expect("Updating")

	// With a check, running is not enough, and the checks of an earlier process do not count.
	b.put(running(svc, 1, time.Time{}))
	b.put(health("web", 0, resources.Failing))
	expect("Starting")

	for _, c := range []struct {
		verdict resources.Verdict
		reason  string
	}{
		{resources.Passing, ""},
		{resources.Failing, "Failing"},
		{resources.Doubtful, ""},
		{resources.Starting, "Starting"},
	} {
		b.put(health("web", 1, c.verdict))
		expect(c.reason)
	}

	failed := running(svc, 1, time.Time{})
	failed.TypedSpec().State, failed.TypedSpec().PID = string(supervise.Waiting), 0
	b.put(failed)
	expect("Failed")

	done := running(svc, 1, time.Time{})
	done.TypedSpec().State = string(supervise.Done)
	b.put(done)
	expect("")

	data := await(b, "web", any[*resources.ServiceStatus]).TypedSpec().Data
	assert.Equal(t, resources.ServiceData{PID: 42, Address: "127.0.0.1:80"}, data)
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
	*st.TypedSpec() = reported[resources.FileData](file, operator.True, "Reconciled", "")

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
	b.put(written(await(b, "etc/hostname", any[*resources.File])))

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
			st.TypedSpec().Conditions[0] = operator.Condition{
				Type: operator.Ready, Status: operator.False, Reason: "Obstructed", Message: "the disk is full",
			}
		}

		b.put(st)
	}

	missing("file etc/hosts: Obstructed, the disk is full", "service web: pending")

	// A status about another state of the service does not count.
	report := func(svc *resources.Service, ready operator.ConditionStatus, reason, message string) {
		st := resources.NewServiceStatus("web")
		*st.TypedSpec() = reported[resources.ServiceData](svc, ready, reason, message)
		b.put(st)
	}

	other := service("web")
	other.TypedSpec().Env = map[string]string{"A": "1"}
	b.put(other)
	stale := await(b, "web", any[*resources.Service])
	report(stale, operator.True, "Reconciled", "")
	b.put(svc)

	current := await(b, "web", func(s *resources.Service) bool { return s.TypedSpec().Env == nil })
	missing("file etc/hosts: Obstructed, the disk is full", "service web: pending")
	report(current, operator.False, "Failed", "exited with code 7")
	missing("file etc/hosts: Obstructed, the disk is full", "service web: Failed, exited with code 7")
	report(current, operator.True, "Reconciled", "")
	missing("file etc/hosts: Obstructed, the disk is full")

	b.put(service("old"))
	b.put(resources.NewFile("gone"))
	missing("file etc/hosts: Obstructed, the disk is full", "file gone: has left the document and is being removed",
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
