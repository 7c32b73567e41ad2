package simulation_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted is a fault that is planted into a copy of a file, which the compiler is then given in its place.
type planted struct {
	name, file, old, new string
	// found is the test that has to find it.
	found string
}

// faults are classic faults of such engines, each of which somebody has had, and of layers like the package operator.
var faults = []planted{
	{
		name: "events lost when a watch is resumed", file: "runtime/session.go", found: "TestStormyWorlds$",
		old: "func (s *session) takePart(ctx context.Context, part []state.Event) error {\n",
		new: "func (s *session) takePart(ctx context.Context, part []state.Event) error {\n\tif s.resumes && !s.moved {\n\t\ts.moved = true\n\n\t\treturn nil\n\t}\n",
	},
	{
		name: "deletions missed by a list", file: "runtime/session.go", found: "TestStormyWorlds$",
		old: "if s.relists || s.table.cached == nil {\n\t\ts.changes = append(s.changes, gone...)",
		new: "if false {\n\t\ts.changes = append(s.changes, gone...)",
	},
	{
		name: "changes missed by a list", file: "runtime/session.go", found: "TestStormyWorlds$",
		old: "if !s.loading || s.relists {", new: "if !s.loading {",
	},
	{
		name: "contents that come late wake nobody", file: "runtime/runtime.go", found: "TestStormyWorlds$",
		old: "told map[reduced.Key]struct{}) {\n\tfor _, e := range r.db.Targets(kind) {",
		new: "told map[reduced.Key]struct{}) {\n\tfor _, e := range r.db.Targets(kind)[:0] {",
	},
	{
		name: "first contents filled in twice", file: "runtime/session.go", found: "TestQuietWorlds",
		old: "\tif len(some) == 0 {\n\t\treturn ids", new: "\tif true {\n\t\treturn ids",
	},
	{
		name: "a cache that goes back", file: "runtime/session.go", found: "TestStormyWorlds$",
		old: "case same && !s.loading && old.Version() > md.Version():", new: "case false:",
	},
	{
		name: "own writes not shown", file: "stateadapter/own.go", found: "TestQuietWorlds",
		old: "\treturn w.Begin(key.ID)", new: "\treturn cache.Write{}",
	},
	{
		name: "former labels forgotten", file: "reduced/former.go", found: "TestQuietWorlds",
		old: "if older.former != nil || !sameLabels(&older.labels, &f.labels) {", new: "if false {",
	},
	{
		name: "two workers on one key", file: "queue/table.go", found: "TestQuietWorlds",
		old: "\tcase Processing:\n\t\tif meanwhile, again := e.putAgain(); again {",
		new: "\tcase Processing:\n\t\tt.detach(r)\n\t\te.value = value\n\t\tt.makeReady(r, lane, now)\n\n\t\tif true {\n\t\t\treturn true\n\t\t}\n\n\t\tif meanwhile, again := e.putAgain(); again {",
	},
	{
		name: "a change during a pass is forgotten", file: "queue/table.go", found: "TestQuietWorlds",
		old: "\t\te.again = lane + 1\n\n\t\treturn false\n\tcase resting:", new: "\t\treturn false\n\tcase resting:",
	},
	{
		name: "a retry that a fresh change waits for", file: "queue/table.go", found: "TestStormyWorlds$",
		old: "\t\tif lane == Fill || lane == Own && e.state == firm {", new: "\t\tif lane >= Live {",
	},
	{
		name: "every pass runs twice", file: "adapter/qruntime/worker.go", found: "TestQuietWorlds",
		old: "\t\tw.succeeded(p, mapped, out.verdict == skipped, ran)\n",
		new: "\t\tw.succeeded(p, mapped, out.verdict == skipped, ran)\n\n\t\tvar again because\n\t\tif p.duty.job == mapInput {\n" +
			"\t\t\tagain.more = &more{facts: *w.facts}\n\t\t}\n\n\t\ta.queue.Put(p.item(), again, queue.Live)\n",
	},
	{
		name: "a failed item is dropped", file: "adapter/qruntime/worker.go", found: "TestStormyWorlds$",
		old: "\t\ta.queue.Hold(p.item(), again, delay)\n", new: "\t\ta.queue.Done(p.item())\n",
	},
	{
		name: "a cancelled call is taken for the end", file: "adapter/qruntime/outcome.go", found: "TestStormyWorlds$",
		old: "case a.ctx.Err() != nil:", new: "case errors.Is(err, context.Canceled):",
	},
	{
		name: "the wakeup of a failed run is lost", file: "adapter/rruntime/adapter.go", found: "TestStormyWorlds$",
		old: "\t// The failed run may have taken a wakeup with it.\n\ta.Wake(cause.Retried)\n", new: "",
	},
	{
		name: "a mapping is lost with its pass", file: "adapter/qruntime/worker.go", found: "TestQuietWorlds",
		old: "a.queue.PutAll(toReconcile(mapped, reason), ", new: "a.queue.PutAll(toReconcile(mapped[1:], reason), ",
	},
	{
		name: "a watch that nobody needs is kept", file: "runtime/register.go", found: "TestQuietWorlds",
		old: "\tr.watches.adjust(r.db.Remove(e.node))\n", new: "\tr.db.Remove(e.node)\n",
	},
	{
		name: "a watch that is not closed", file: "runtime/watches.go", found: "TestQuietWorlds",
		old: "\t\t\tif w != nil {\n\t\t\t\tdelete(s.open, kind)", new: "\t\t\tif false {\n\t\t\t\tdelete(s.open, kind)",
	},
	{
		name: "a refused registration keeps its claims", file: "dependency/database.go", found: "TestQuietWorlds",
		old: "\tupdate, err := db.plan(node, form, inputs)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\n\tif accepted",
		new: "\tdb.claim(node)\n\n\tupdate, err := db.plan(node, form, inputs)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\n\tif accepted",
	},
	{
		name: "a cache that is read before it is filled", file: "runtime/table.go", found: "TestQuietWorlds",
		old: "\t\tt.cached.Load()\n", new: "\t\tt.cached.Load()\n\t\tt.cached.Complete()\n",
	},
	{
		name: "an update of inputs opens no watch", file: "runtime/register.go", found: "TestQuietWorlds",
		old: "\tr.watches.adjust(touched)\n\n\tr.mu.Lock()\n\tctx := e.ctx", new: "\tr.mu.Lock()\n\tctx := e.ctx",
	},
	{
		name: "in operators, a primary let go before its children", file: "operator/cleanup.go", found: "TestStormyOperators$",
		old: "if left > 0 {",
		new: "if false {",
	},
	{
		name: "in operators, a status left behind", file: "operator/cleanup.go", found: "TestStormyOperators$",
		old: "if run.status.current != nil {\n\t\trun.statusGoes = true",
		new: "if false {\n\t\trun.statusGoes = true",
	},
	{
		name: "in operators, work before the finalizer", file: "operator/qcontroller.go", found: "TestStormyOperators$",
		old: "return run.def.needsFinalizer() && md.Phase()",
		new: "return false && md.Phase()",
	},
	{
		name: "in operators, an outside world that is not cleaned up", file: "operator/cleanup.go", found: "TestStormyOperators$",
		old: "s := run.def.finalize; s != nil {",
		new: "s := run.def.finalize; s != nil && run.status.current == nil {",
	},
	{
		name: "in operators, a condition whose time moves", file: "operator/condition.go", found: "TestStormyOperators$",
		old: "known && old.Status == condition.Status {",
		new: "known && false {",
	},
	{
		name: "in operators, an old generation reported", file: "operator/report.go", found: "TestStormyOperators$",
		old: "generation = run.generation",
		new: "generation = min(run.generation, 1)",
	},
	{
		name: "in operators, a former dependent not woken", file: "operator/references.go", found: "TestStormyOperators$",
		old: "slices.Concat(before, now)",
		new: "slices.Concat(before[:0], now)",
	},
	{
		name: "in operators, references not learned", file: "operator/watch.go", found: "TestStormyOperators$",
		old: "\t\tq.references.learn(reduced.Key{Kind: watched.kind, ID: res.Metadata().ID()}, ids)\n",
		new: "\t\t_ = ids\n",
	},
	{
		name: "in operators, a source that could not be mapped", file: "operator/watch.go", found: "TestStormyOperators$",
		old: "if q.references.isLost(source) {",
		new: "if false {",
	},
	{
		name: "in operators, obsolete children kept", file: "operator/offspring.go", found: "TestStormyOperators$",
		old: "!slices.Contains(keep, child.ID)",
		new: "len(keep) == 0",
	},
	{
		name: "in operators, children not made again", file: "operator/pass.go", found: "TestStormyOperators$",
		old: "return run.replace(ctx, current, desired)",
		new: "return nil",
	},
	{
		name: "in operators, later conditions left as they were", file: "operator/run.go", found: "TestStormyOperators$",
		old: "for _, s := range later {",
		new: "for _, s := range later[:0] {",
	},
	{
		name: "in operators, work after a wait", file: "operator/run.go", found: "TestStormyOperators$",
		old: "if res.verdict != reconcile.Succeeded {\n\t\t\tif verdict",
		new: "if res.verdict > reconcile.Pending {\n\t\t\tif verdict",
	},
	{
		name: "in operators, a wait that nobody ends", file: "operator/qcontroller.go", found: "TestStormyOperators$",
		old: "return controller.NewRequeueInterval(res.after)\n\tcase reconcile.Failed:",
		new: "return nil\n\tcase reconcile.Failed:",
	},
	{
		name: "in operators, a status of another life", file: "operator/pass.go", found: "TestStormyOperators$",
		old: "*seen.uid != run.incarnation {",
		new: "*seen.uid == \"\" {",
	},
	{
		name: "in operators, a write that changes nothing", file: "operator/pass.go", found: "TestStormyOperators$",
		old: "case same(current, desired):",
		new: "case false:",
	},
	{
		name: "in operators, secrets in messages", file: "operator/outcome.go", found: "TestStormyOperators$",
		old: "\treturn failureReason(err)\n}",
		new: "\treturn err.Error()\n}",
	},
	{
		name: "in operators, a child that wakes nobody", file: "operator/owned.go", found: "TestStormyOperators$",
		old: "return id, ok && id != \"\"",
		new: "return id, false",
	},
	{
		name: "in operators, no word to who is not selected any more", file: "operator/qcontroller.go", found: "TestStormyOperators$",
		old: "case !q.def.selects(md.Labels()):",
		new: "case false:",
	},
	{
		name: "in operators, a refusal that outlives its reason", file: "operator/children.go", found: "TestStormyOperators$",
		old: "\trun.blockers.add(reduced.KeyOf(md), run.primary.Metadata().ID())\n\n",
		new: "",
	},
	{
		name: "in operators, a status that could not be written", file: "operator/report.go", found: "TestStormyOperators$",
		old: "res.unreported(ctx, fmt.Errorf(\"writing the status: %w\", err))",
		new: "_ = fmt.Errorf(\"writing the status: %w\", err)",
	},
	{
		name: "in operators, children not learned", file: "operator/offspring.go", found: "TestStormyOperators$",
		old: "ok && md.Owner() == q.def.name {", new: "ok && md.Owner() == \"\" {",
	},
	{
		name: "in operators, children not noted", file: "operator/children.go", found: "TestStormyOperators$",
		old: "\trun.offspring.add(run.primary.Metadata().ID(), reduced.KeyOf(desired.Metadata()))\n\n", new: "",
	},
}

// plantedByDefault are words of the names of the faults that are planted each time.
const plantedByDefault = "cancelled call|own writes|runs twice|two workers|wait that nobody"

var (
	plant = flag.String("plant", plantedByDefault, "a regular expression for the names of the faults to plant; each takes some ten seconds")
	write = flag.Bool("write", false, "write the seeds with which planted faults were found into docs/reliability.md")
)

// There is one place for each fault to be planted in: who changes that place moves the fault along. What this needs is a look at the
// sources, so it is done for all of them each time, and most are only planted when somebody asks for it.
func TestFaultsHaveTheirPlaces(t *testing.T) {
	t.Parallel()

	root, err := filepath.Abs("../..")
	require.NoError(t, err)

	for _, fault := range faults {
		_, err := fault.plant(root)
		assert.NoError(t, err)
	}

	for words := range strings.SplitSeq(plantedByDefault, "|") {
		assert.True(t, slices.ContainsFunc(faults, func(fault planted) bool { return strings.Contains(fault.name, words) }), words)
	}
}

// Each planted fault is found by its simulation, within few seeds.
func TestPlantedFaultsAreFound(t *testing.T) {
	if raced {
		t.Skip("each fault means building everything anew: once without the race detector is enough")
	}

	root, err := filepath.Abs("../..")
	require.NoError(t, err)

	wanted, err := regexp.Compile(*plant)
	require.NoError(t, err)

	for _, fault := range faults {
		if !wanted.MatchString(fault.name) {
			continue
		}

		t.Run(strings.ReplaceAll(fault.name, " ", "-"), func(t *testing.T) {
			out, err := fault.run(t, root)
			require.Error(t, err, "the fault was not found:\n%s", out)

			seed := regexp.MustCompile(`the run with seed (\d+) fails:`).FindStringSubmatch(out)
			require.NotEmpty(t, seed, "the simulation did not come to an end:\n%s", out)
			t.Logf("found with seed %s", seed[1])

			if *write {
				note(t, root, fault.name, seed[1])
			}
		})
	}
}

// note writes the seed into the row of the fault.
func note(t *testing.T, root, name, seed string) {
	t.Helper()

	path := filepath.Join(root, "docs", "reliability.md")

	page, err := os.ReadFile(path)
	require.NoError(t, err)

	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(name) + ` \| \d+ \|$`)
	require.Regexp(t, row, string(page), "%s has no row", name)
	require.NoError(t, os.WriteFile(path, row.ReplaceAll(page, []byte("| "+name+" | "+seed+" |")), 0o600))
}

// plant returns the text of the file with the fault in it, or an error that says which fault has lost its place.
func (p planted) plant(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, p.file))
	if err != nil {
		return "", fmt.Errorf("the fault %q has nowhere to be planted: %w", p.name, err)
	}

	if n := strings.Count(string(source), p.old); n != 1 {
		return "", fmt.Errorf("the fault %q is planted in place of a text that is in %s once, and now is there %d times: give it the one that "+
			"is there now, so that it stays the same fault\n%s", p.name, p.file, n, p.old)
	}

	text := strings.Replace(string(source), p.old, p.new, 1)
	if strings.Contains(p.new, "context.Canceled") && !strings.Contains(text, "\"context\"") {
		text = strings.Replace(text, "import (\n", "import (\n\t\"context\"\n", 1)
	}

	return text, nil
}

// run runs the simulation with the fault in place.
func (p planted) run(t *testing.T, root string) (string, error) {
	text, err := p.plant(root)
	require.NoError(t, err)

	copied := filepath.Join(t.TempDir(), filepath.Base(p.file))
	require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))

	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, p.file): copied}})
	require.NoError(t, err)

	list := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o600))

	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", list, "-run", p.found,
		"./internal/simulation/...", "-seeds", "10000")
	cmd.Dir = root

	out, err := cmd.CombinedOutput()

	return string(out), err
}
