package simulation_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// planted is a fault that is planted into a copy of a file of the engine, which the compiler is then given in its place.
type planted struct {
	name, file, old, new string
	// found is the test that has to find it.
	found string
}

// faults are classic faults of such engines, each of which somebody has had.
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
		old: "for _, e := range r.db.Targets(kind) {\n\t\tif e.classic", new: "for _, e := range r.db.Targets(kind)[:0] {\n\t\tif e.classic",
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
		old: "\treturn w.Begin(ptr.ID())", new: "\treturn cache.Write{}",
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
		old: "\t\ta.succeeded(p, mapped, out.verdict == skipped, ran)\n",
		new: "\t\ta.succeeded(p, mapped, out.verdict == skipped, ran)\n\t\ta.queue.Put(p.item, p.facts, queue.Live)\n",
	},
	{
		name: "a failed item is dropped", file: "adapter/qruntime/worker.go", found: "TestStormyWorlds$",
		old: "\t\ta.queue.Hold(p.item, facts, delay)\n", new: "\t\ta.queue.Done(p.item)\n",
	},
	{
		name: "a cancelled call is taken for the end", file: "adapter/qruntime/outcome.go", found: "TestStormyWorlds$",
		old: "case a.ctx.Err() != nil:", new: "case errors.Is(err, context.Canceled):",
	},
	{
		name: "the wakeup of a failed run is lost", file: "adapter/rruntime/adapter.go", found: "TestStormyWorlds$",
		old: "\t// The failed run may have taken a wakeup with it.\n\ta.QueueReconcile()\n", new: "",
	},
	{
		name: "a mapping is lost with its pass", file: "adapter/qruntime/worker.go", found: "TestQuietWorlds",
		old: "a.queue.PutAll(toReconcile(mapped, nil), queue.Live)", new: "a.queue.PutAll(toReconcile(mapped[1:], nil), queue.Live)",
	},
	{
		name: "a watch that nobody needs is kept", file: "runtime/register.go", found: "TestQuietWorlds",
		old: "\t<-e.done\n\n\tr.withdraw(e)", new: "\t<-e.done\n\n\tr.db.Remove(e.node)",
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
}

var (
	plant = flag.String("plant", "cancelled call|own writes|passes|two workers", "a regular expression for the names of the faults to plant; each takes some ten seconds")
	write = flag.Bool("write", false, "write the seeds with which planted faults were found into docs/reliability.md")
)

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

// run runs the simulation with the fault in place.
func (p planted) run(t *testing.T, root string) (string, error) {
	path := filepath.Join(root, p.file)

	source, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), p.old), "%s has changed: plant the fault anew", p.file)

	text := strings.Replace(string(source), p.old, p.new, 1)
	if strings.Contains(p.new, "context.Canceled") && !strings.Contains(text, "\"context\"") {
		text = strings.Replace(text, "import (\n", "import (\n\t\"context\"\n", 1)
	}

	copied := filepath.Join(t.TempDir(), filepath.Base(p.file))
	require.NoError(t, os.WriteFile(copied, []byte(text), 0o600))

	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: copied}})
	require.NoError(t, err)

	list := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(list, overlay, 0o600))

	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", list, "-run", p.found,
		"./internal/simulation", "-seeds", "10000")
	cmd.Dir = root

	out, err := cmd.CombinedOutput()

	return string(out), err
}
