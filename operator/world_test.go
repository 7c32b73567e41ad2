package operator_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

func at(typ resource.Type, id resource.ID) resource.Metadata {
	return resource.NewMetadata(ns, typ, id, resource.VersionUndefined)
}

func newSite(id resource.ID, text string, pages ...string) *site {
	return typed.NewResource[siteSpec, siteExtension](at(siteType, id), siteSpec{text, pages})
}

func newPage(id resource.ID) *page {
	return typed.NewResource[pageSpec, pageExtension](at(pageType, id), pageSpec{})
}

func newDoc(id resource.ID) *doc {
	return typed.NewResource[docSpec, docExtension](at(docType, id), docSpec{})
}

func newSecret(id resource.ID, sites ...string) *secret {
	return typed.NewResource[secretSpec, secretExtension](at(secretType, id), secretSpec{sites})
}

// sites begins a definition that records no events, and says all else that a test wants.
func sites() *operator.Controller[*site] { return operator.For[*site]("sites").WithoutEvents() }

// startSites runs what the function defines, on a state that stamps sites. It returns that state, for what others do in the
// middle of a pass: it needs no turn.
func startSites(w *controllertest.World, define func() operator.Definition) state.State {
	var direct state.CoreState

	w.Wrap(func(core state.CoreState) state.CoreState {
		direct = stampedSites(core)

		return direct
	})
	w.Start(func(engine controller.Engine) error { return operator.Register(engine, define()) })

	return state.WrapCore(direct)
}

// stampedSites stamps sites with generations and with uids that count.
func stampedSites(core state.CoreState) state.CoreState {
	var (
		mu sync.Mutex // guards n
		n  int
	)

	return generation.Wrap(core, generation.Config{Types: []resource.Type{siteType}, NewUID: func() string {
		mu.Lock()
		defer mu.Unlock()

		n++

		return fmt.Sprint("uid-", n)
	}})
}

// journal is what handlers have noted.
type journal struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

// taken returns what was noted since it was called last.
func (j *journal) taken() []string {
	j.mu.Lock()
	defer j.mu.Unlock()

	lines := j.lines
	j.lines = nil

	return lines
}

func getSite(w *controllertest.World, id resource.ID) *site {
	return controllertest.Get[*site](w, newSite(id, "").Metadata())
}

func getPage(w *controllertest.World, id resource.ID) *page {
	return controllertest.Get[*page](w, newPage(id).Metadata())
}

func getStatus(w *controllertest.World, id resource.ID) *operator.StatusSpec[seen] {
	md := at(statusType, id)

	return controllertest.Get[*siteStatus](w, md).TypedSpec()
}

func setText(w *controllertest.World, id resource.ID, text string) {
	controllertest.Update(w, newSite(id, "").Metadata(), func(s *site) { s.TypedSpec().Text = text })
}

// siteReady asserts what the status of a site says all in all.
func siteReady(w *controllertest.World, id resource.ID, status operator.ConditionStatus, reason string) {
	found, _ := getStatus(w, id).Conditions.Get(operator.Ready)
	require.Equal(w, []string{string(status), reason}, []string{string(found.Status), found.Reason})
}

// timeless leaves out of a comparison what differs from run to run: the times in statuses.
func timeless(res resource.Resource) resource.Resource {
	if status, ok := res.(*siteStatus); ok {
		for i := range status.TypedSpec().Conditions {
			status.TypedSpec().Conditions[i].LastTransitionTime = time.Time{}
		}
	}

	return res
}
