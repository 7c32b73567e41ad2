package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tiny is the size at which workloads are tried.
const tiny = 20

// Every workload comes to its end on every contender, and measures something.
func TestWorkloads(t *testing.T) {
	names := map[string]bool{}

	for _, w := range workloads() {
		assert.False(t, names[w.name], "%s is there twice", w.name)
		names[w.name] = true

		for _, contender := range []string{peerName, oursName, floorName} {
			if contender == floorName && w.floor == nil {
				continue
			}

			t.Run(w.name+"/"+contender, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()

				f, tidy, err := perform(ctx, w, contender, tiny, "")
				tidy()

				require.NoError(t, err)
				assert.Positive(t, f.Ops)
				assert.NotZero(t, w.worth(f))
			})
		}
	}
}

// A workload that fails, or measures nothing, is an error and no figure.
func TestFailuresAreErrors(t *testing.T) {
	for name, run := range map[string]func(*trial){
		"fails":    func(tr *trial) { tr.check(io.ErrUnexpectedEOF) },
		"nothing":  func(*trial) {},
		"cut off":  func(tr *trial) { tr.fail(io.ErrUnexpectedEOF); tr.wait(nil) },
		"no state": func(tr *trial) { tr.contender = "nobody"; tr.rig(1) },
	} {
		_, tidy, err := perform(t.Context(), &workload{name: name, run: run}, oursName, 1, "")
		tidy()

		assert.Error(t, err, name)
	}
}

func TestFlags(t *testing.T) {
	for text, args := range map[string][]string{
		"-run":                 {"-run", "("},
		"at least 1":           {"-rounds", "0"},
		"not a factor":         {"-sizes", "1,x"},
		"from small to large":  {"-sizes", "10,1"},
		"-engine \"theirs\"":   {"-engine", "theirs"},
		"-peer-limit":          {"-peer-limit", "-1s"},
		"leave out":            {"-write", "-json"},
		"the whole table":      {"-write", "-run", "queue"},
		"-profile":             {"-profile", "bench_test.go/x"},
		"table of its own":     {"-tracing", "-engine", "ours"},
		"stands alone":         {"-capacity", "-quick"},
		"unknown argument":     {"queue"},
		"no workload matches":  {"-run", "nosuch"},
		"there is no workload": {childMark, `{"workload":"nosuch"}`},
		"provided but not":     {"-nosuch"},
	} {
		assert.ErrorContains(t, command(t.Context(), args, io.Discard, io.Discard), text)
	}

	s, err := parseFlags([]string{"-quick", "-sizes", "0.5, 2"}, io.Discard)

	require.NoError(t, err)
	assert.Equal(t, []float64{0.5, 2}, s.sizes)
	assert.Equal(t, quickRounds, s.rounds)

	var help bytes.Buffer

	assert.ErrorIs(t, command(t.Context(), []string{"-h"}, io.Discard, &help), flag.ErrHelp)
	assert.Contains(t, help.String(), "-peer-limit")
}

func TestList(t *testing.T) {
	var out bytes.Buffer

	require.NoError(t, command(t.Context(), []string{"-list", "-run", "^queue-parked-20000$"}, &out, io.Discard))
	assert.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")))
}

func TestCapacity(t *testing.T) {
	var out bytes.Buffer

	require.NoError(t, capacity{controllers: 10, resources: 100, items: 100}.run(t.Context(), &out))
	assert.Contains(t, out.String(), "drained")
}

// made returns an outcome of a workload that grows, with the seconds of whole rounds.
func made(peer, ours map[int][]float64) *outcome {
	o := &outcome{workload: &workload{name: "made", unit: "op", size: 100, grows: true, target: 4}}

	for contender, sizes := range map[string]map[int][]float64{peerName: peer, oursName: ours} {
		for size, rounds := range sizes {
			s := &series{Size: size, Contender: contender}

			for _, seconds := range rounds {
				s.Figures = append(s.Figures, figures{Seconds: seconds, Ops: size})
			}

			o.Series = append(o.Series, s)
		}
	}

	return o
}

func TestRows(t *testing.T) {
	r := &runner{settings: &settings{rounds: 3, sizes: []float64{0.1, 1}}}

	line := newRow(r, made(map[int][]float64{10: {1}, 100: {100, 101, 99}}, map[int][]float64{10: {1}, 100: {10, 10, 10}}), nil)

	assert.InDelta(t, 10, line.ratio, 1e-9)
	assert.Equal(t, "2.00", line.growthPeer)
	assert.Equal(t, "1.00", line.growthOur)
	assert.Equal(t, "yes", line.holds())
	assert.Equal(t, "10.0 (9.90–10.1)", line.ratioText())

	// A contender that was ended has a lower bound.
	o := made(map[int][]float64{10: {1}, 100: nil}, map[int][]float64{10: {1}, 100: {10, 10, 10}})
	o.of(peerName, 100).Limit = 60
	line = newRow(r, o, nil)

	assert.InDelta(t, 6, line.ratio, 1e-9)
	assert.Equal(t, "> 6.00", line.ratioText())
	assert.Equal(t, "> 1.8", line.growthPeer)
	assert.Equal(t, "yes", line.holds())

	o.of(peerName, 100).Limit = 30
	line = newRow(r, o, nil)

	assert.Equal(t, "not known", line.holds())

	// A contender that could not go on has no figure. Of the peer that is a result, of others an error.
	o.of(peerName, 100).Problem = "broken"
	line = newRow(r, o, nil)

	assert.Equal(t, "–", line.ratioText())
	assert.Equal(t, "–", line.growthPeer)
	assert.NoError(t, problems([]*outcome{o}))

	o.of(oursName, 100).Problem = "broken"

	assert.ErrorContains(t, problems([]*outcome{o}), "broken")

	// A workload that is to be as cheap as another is compared with that.
	many, few := made(nil, map[int][]float64{100: {12}}), made(nil, map[int][]float64{100: {10}})
	many.workload.steady, few.Name = "few", "few"
	line = newRow(r, many, []*outcome{few, many})

	assert.Equal(t, "1.20 times", line.ratioText())
	assert.Equal(t, "yes", line.holds())

	// Where that of the floor grows by more than is allowed, coming near to the floor is enough.
	many.of(oursName, 100).Figures[0].Seconds = 16
	assert.Equal(t, "no", new(newRow(r, many, []*outcome{few, many})).holds())

	many.Series = append(many.Series, &series{Contender: floorName, Size: 100, Figures: []figures{{Seconds: 14, Ops: 100}}})
	few.Series = append(few.Series, &series{Contender: floorName, Size: 100, Figures: []figures{{Seconds: 9, Ops: 100}}})
	assert.Equal(t, "yes, 1.14 times the floor", new(newRow(r, many, []*outcome{few, many})).holds())
}

// Where the target asks for less than the floor takes, coming near to the floor is enough.
func TestRowsNearTheFloor(t *testing.T) {
	r := &runner{settings: &settings{rounds: 3, sizes: []float64{1}}}

	for holds, floor := range map[string]float64{"yes, 1.25 times the floor": 16, "no, 1.67 times the floor": 12, "no": 9} {
		o := made(map[int][]float64{100: {21, 21, 21}}, map[int][]float64{100: {20, 20, 20}})
		o.workload.target = 2
		o.Series = append(o.Series, &series{Contender: floorName, Size: 100, Figures: []figures{{Seconds: floor, Ops: 100}}})

		line := newRow(r, o, nil)
		assert.Equal(t, holds, line.holds())
	}
}

func TestRewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")

	require.NoError(t, os.WriteFile(path, []byte("by hand\n"+begin+"\nold\n"+end+"\nby hand, too\n"), 0o600))
	require.NoError(t, rewrite(path, "new\n"))

	text, err := os.ReadFile(path)

	require.NoError(t, err)
	assert.Equal(t, "by hand\n"+begin+"\n\nnew\n\n"+end+"\nby hand, too\n", string(text))

	require.NoError(t, os.WriteFile(path, []byte("no markers"), 0o600))
	assert.ErrorContains(t, rewrite(path, "new"), begin)
	assert.ErrorContains(t, rewrite(path+".nosuch", "new"), "root of the repository")
}

func TestTracingTable(t *testing.T) {
	s, err := parseFlags([]string{"-tracing"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, tracingRounds, s.rounds)

	r := &runner{settings: s}
	w, ok := named("fanout-one-event-4000")
	require.True(t, ok)
	require.True(t, s.run.MatchString(w.name))
	require.Equal(t, []string{untracedName, tracedName}, r.contenders(w))
	require.Equal(t, tracingRounds, r.rounds(w, w.size))

	figure := func(cpu float64) []figures { return []figures{{CPU: cpu, Seconds: 2 * cpu, Ops: 1000, Allocs: 3000}} }
	o := &outcome{workload: w, Name: w.name, Series: []*series{
		{Size: w.size, Contender: untracedName, Figures: figure(1e-3)}, {Size: w.size, Contender: tracedName, Figures: figure(1.04e-3)},
	}}
	none := &outcome{workload: w, Name: "none"}
	table := tracingReport(r, []*outcome{o, none})

	require.Contains(t, table, "| fanout-one-event-4000 | 1.00 µs | 1.04 µs | 1.040 (1.040–1.040) | 40.0 ns | 2.00 µs | 2.08 µs | 1.040 (1.040–1.040) | 3.0, 3.0 |\n")
	require.Contains(t, table, "| none | – |")
}
