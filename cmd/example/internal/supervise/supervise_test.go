//go:build linux

package supervise_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/switchyard-run/switchyard/backoff"

	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const patience = 10 * time.Second

// bench is a supervisor over a directory of its own.
type bench struct {
	*supervise.Supervisor

	t   *testing.T
	dir string
}

// config returns a config over a directory; the root is closed when the test has ended.
func config(t *testing.T, dir string, clock clockwork.Clock) supervise.Config {
	t.Helper()

	root, err := os.OpenRoot(dir)
	require.NoError(t, err)

	t.Cleanup(func() { assert.NoError(t, root.Close()) })

	return supervise.Config{
		Root: root, Dir: dir, LogDir: "log", RunDir: "run", Logger: zaptest.NewLogger(t), Clock: clock,
	}
}

func open(t *testing.T, clock clockwork.Clock) bench {
	t.Helper()

	dir := t.TempDir()

	s, err := supervise.Open(config(t, dir, clock))
	require.NoError(t, err)

	t.Cleanup(func() {
		s.Kill()
		assert.NoError(t, s.Close(context.Background()))
	})

	return bench{s, t, dir}
}

// shell is a definition that runs a script.
func shell(script string) supervise.Definition {
	return supervise.Definition{
		Command: []string{"sh", "-c", script},
		Restart: backoff.Policy{Base: 10 * time.Millisecond, Factor: 2, Max: time.Second},
		Stop:    patience,
	}
}

// await waits for a status.
func (b bench) await(name string, wanted func(supervise.Status) bool) supervise.Status {
	b.t.Helper()

	var last supervise.Status

	require.Eventually(b.t, func() bool {
		status, ok := b.Status(name)
		last = status

		return ok && wanted(status)
	}, patience, 5*time.Millisecond, "%v", statusText(func() supervise.Status { return last }))

	return last
}

type statusText func() supervise.Status

func (s statusText) String() string { return fmt.Sprintf("%+v", s()) }

func in(state supervise.State) func(supervise.Status) bool {
	return func(s supervise.Status) bool { return s.State == state }
}

func (b bench) awaitGone(name string) {
	b.t.Helper()

	require.Eventually(b.t, func() bool {
		_, there := b.Status(name)

		return !there
	}, patience, 5*time.Millisecond)
}

// read waits for a file to have content.
func (b bench) read(name string) string {
	b.t.Helper()

	var text []byte

	require.Eventually(b.t, func() bool {
		var err error

		text, err = os.ReadFile(filepath.Join(b.dir, name))

		return err == nil && strings.HasSuffix(string(text), "\n")
	}, patience, 5*time.Millisecond)

	return strings.TrimSpace(string(text))
}

func runs(pid string) bool {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}

	_, rest, _ := strings.Cut(string(text), ") ")

	return !strings.HasPrefix(rest, "Z")
}

func TestAProcessRunsAndGoesWithItsGroup(t *testing.T) {
	b := open(t, nil)

	def := shell(`echo "$GREETING from $PWD"; sleep 1000 & echo $! > child; wait`)
	def.Env = []string{"GREETING=hello"}
	def.Revision = "r1"

	require.NoError(t, b.Set("one", def))

	status := b.await("one", in(supervise.Running))
	assert.Equal(t, "r1", status.Revision)
	assert.Zero(t, status.Restarts)

	child := b.read("child")
	require.True(t, runs(child))
	assert.Equal(t, "hello from "+b.dir, b.read("log/one.log"))
	assert.FileExists(t, filepath.Join(b.dir, "run/one.pid.json"))
	assert.True(t, b.await("one", func(s supervise.Status) bool { return s.Settled }).Settled)

	b.Remove("one")
	b.awaitGone("one")

	assert.False(t, runs(child), "the child goes with its parent")
	assert.False(t, runs(fmt.Sprint(status.PID)))
	assert.NoFileExists(t, filepath.Join(b.dir, "run/one.pid.json"))
	assert.Empty(t, b.Names())
}

func TestALeaderThatEndsLeavesNoChildBehind(t *testing.T) {
	b := open(t, nil)

	def := shell(`sleep 1000 & echo $! > child`)
	def.OneShot = true

	require.NoError(t, b.Set("one", def))
	b.await("one", in(supervise.Done))

	assert.False(t, runs(b.read("child")))
}

func TestADescendantThatLeavesTheGroupGoesToo(t *testing.T) {
	for name, script := range map[string]string{
		"stopped":            `setsid sh -c 'trap "" TERM; echo $$ > child; sleep 1000' & wait`,
		"left by its leader": `setsid sh -c 'echo $$ > child; sleep 1000' & sleep 0.1`,
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, nil)

			require.NoError(t, b.Set("one", shell(script)))
			b.await("one", in(supervise.Running))
			child := b.read("child")

			b.Remove("one")
			b.awaitGone("one")

			assert.False(t, runs(child))
		})
	}
}

func TestOneThatDoesNotStopIsKilled(t *testing.T) {
	b := open(t, nil)

	def := shell(`trap "" TERM; sleep 1000 & echo $! > child; while :; do sleep 0.02; done`)
	def.Stop = 20 * time.Millisecond

	require.NoError(t, b.Set("one", def))
	status := b.await("one", in(supervise.Running))
	child := b.read("child")

	b.Remove("one")
	b.awaitGone("one")

	assert.False(t, runs(child))
	assert.False(t, runs(fmt.Sprint(status.PID)))
}

func TestAOneShotRunsOnceForEachAttempt(t *testing.T) {
	b := open(t, nil)

	def := shell(`echo ran >> count`)
	def.OneShot = true

	require.NoError(t, b.Set("one", def))

	first := b.await("one", in(supervise.Done))
	assert.Equal(t, "exited with code 0", first.Message)

	require.NoError(t, b.Set("one", def))

	def.Attempt = "again"
	require.NoError(t, b.Set("one", def))

	second := b.await("one", func(s supervise.Status) bool { return s.State == supervise.Done && s.Instance != first.Instance })
	assert.Equal(t, uint64(1), second.Restarts)
	assert.Equal(t, "ran\nran", b.read("count"))
}

func TestPausesGrow(t *testing.T) {
	clock := clockwork.NewFakeClock()
	b := open(t, clock)

	def := shell(`echo ran >> count; exit 3`)
	def.Restart = backoff.Policy{Base: time.Minute, Factor: 2, Max: 3 * time.Minute}

	require.NoError(t, b.Set("one", def))

	for run, pause := range []time.Duration{time.Minute, 2 * time.Minute, 3 * time.Minute, 3 * time.Minute} {
		status := b.await("one", func(s supervise.Status) bool {
			return s.State == supervise.Waiting && s.Restarts == uint64(run)
		})
		assert.Equal(t, "exited with code 3", status.Message)

		require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
		clock.Advance(pause - time.Second)

		status, ok := b.Status("one")
		require.True(t, ok)
		assert.Equal(t, uint64(run), status.Restarts, "the pause is over too early")

		clock.Advance(time.Second)
	}
}

func TestOneThatCannotBeStartedIsTriedAgain(t *testing.T) {
	b := open(t, nil)

	require.NoError(t, b.Set("one", supervise.Definition{
		Command: []string{filepath.Join(b.dir, "program")},
		Restart: backoff.Policy{Base: 10 * time.Millisecond, Factor: 1, Max: 10 * time.Millisecond},
		Stop:    patience,
	}))

	status := b.await("one", in(supervise.Waiting))
	assert.Contains(t, status.Message, "no such file")

	require.NoError(t, os.Symlink("/bin/sleep", filepath.Join(b.dir, "sleep")))
	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "new"), []byte("#!/bin/sh\nsleep 1000\n"), 0o755))
	require.NoError(t, os.Rename(filepath.Join(b.dir, "new"), filepath.Join(b.dir, "program")))

	b.await("one", in(supervise.Running))
}

func TestAChangeOfTheDefinition(t *testing.T) {
	b := open(t, nil)

	def := shell("sleep 1000")
	def.Revision, def.Hold = "r1", true

	require.NoError(t, b.Set("one", def))
	b.await("one", in(supervise.Held))

	def.Hold = false
	require.NoError(t, b.Set("one", def))

	first := b.await("one", in(supervise.Running))

	// What does not concern the process leaves it alone.
	def.Revision, def.Stop, def.Hold = "r2", time.Second, true
	require.NoError(t, b.Set("one", def))

	same := b.await("one", func(s supervise.Status) bool { return s.Revision == "r2" })
	assert.Equal(t, first.PID, same.PID)

	// What does replaces it.
	def.Env, def.Hold = []string{"A=b"}, false
	require.NoError(t, b.Set("one", def))

	second := b.await("one", func(s supervise.Status) bool { return s.State == supervise.Running && s.PID != first.PID })
	assert.False(t, runs(fmt.Sprint(first.PID)))

	// A wish to restart is about one instance only.
	b.Restart("one", first.Instance, "is unwell")
	b.Restart("one", second.Instance, "is unwell")

	third := b.await("one", func(s supervise.Status) bool { return s.State == supervise.Running && s.PID != second.PID })
	assert.Equal(t, uint64(2), third.Restarts)
	assert.Equal(t, "is unwell", third.Message)
}

func TestARestartCountsAsAFailure(t *testing.T) {
	clock := clockwork.NewFakeClock()
	b := open(t, clock)

	def := shell("sleep 1000")
	def.Restart = backoff.Policy{Base: time.Minute, Factor: 2, Max: time.Hour}

	require.NoError(t, b.Set("one", def))

	for run, pause := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		running := b.await("one", func(s supervise.Status) bool {
			return s.State == supervise.Running && s.Restarts == uint64(run)
		})

		b.Restart("one", running.Instance, "is unwell")

		// The clock stands still while a process is stopped, and moves when all is quiet.
		require.Eventually(t, func() bool {
			clock.Advance(10 * time.Millisecond)

			status, ok := b.Status("one")

			return ok && status.State == supervise.Waiting && status.Message == "is unwell"
		}, patience, 5*time.Millisecond)

		require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
		clock.Advance(pause - time.Second)

		status, ok := b.Status("one")
		require.True(t, ok)
		assert.Equal(t, supervise.Waiting, status.State, "the pause is over too early")

		clock.Advance(time.Second)
	}
}

func TestDirectoriesThatWereCleanedUp(t *testing.T) {
	b := open(t, nil)

	require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "log")))
	require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "run")))
	require.NoError(t, b.Set("one", shell("echo hello; sleep 1000")))

	b.await("one", in(supervise.Running))
	assert.Equal(t, "hello", b.read("log/one.log"))
	assert.FileExists(t, filepath.Join(b.dir, "run/one.pid.json"))
}

func TestOneThatIsWantedAgainWhileItGoes(t *testing.T) {
	b := open(t, nil)

	def := shell(`trap "sleep 0.1; exit" TERM; echo > ready; while :; do sleep 0.02; done`)

	require.NoError(t, b.Set("one", def))
	first := b.await("one", in(supervise.Running))
	b.read("ready")

	b.Remove("one")
	b.await("one", in(supervise.Stopping))
	require.NoError(t, b.Set("one", def))

	b.await("one", func(s supervise.Status) bool { return s.State == supervise.Running && s.PID != first.PID })
}

func TestCloseKillsThoseThatTakeTooLong(t *testing.T) {
	dir := t.TempDir()

	s, err := supervise.Open(config(t, dir, nil))
	require.NoError(t, err)

	b := bench{s, t, dir}
	def := shell(`trap "" TERM; echo > ready; while :; do sleep 0.02; done`)

	require.NoError(t, s.Set("one", def))
	status := b.await("one", in(supervise.Running))
	b.read("ready")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	require.ErrorIs(t, s.Close(ctx), context.Canceled)
	assert.False(t, runs(fmt.Sprint(status.PID)))
	assert.ErrorIs(t, s.Set("two", def), supervise.ErrClosed)
}

func TestOneSupervisorForADirectory(t *testing.T) {
	dir := t.TempDir()

	s, err := supervise.Open(config(t, dir, nil))
	require.NoError(t, err)

	_, err = supervise.Open(config(t, dir, nil))
	require.ErrorContains(t, err, "another control plane is at work here")

	require.NoError(t, s.Close(t.Context()))

	s, err = supervise.Open(config(t, dir, nil))
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))
}

// stray starts a process the way a control plane that was killed has left it, and returns its record.
func stray(t *testing.T, mark string) map[string]any {
	t.Helper()

	cmd := exec.Command("sleep", "1000")
	cmd.Env = append(os.Environ(), "APPLIANCE_UNIT="+mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())

	done := make(chan struct{})

	go func() {
		defer close(done)

		_ = cmd.Wait()
	}()

	t.Cleanup(func() {
		_ = cmd.Process.Kill()

		<-done
	})

	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	require.NoError(t, err)

	_, rest, _ := strings.Cut(string(stat), ") ")

	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	require.NoError(t, err)

	return map[string]any{
		"pid": cmd.Process.Pid, "started": strings.Fields(rest)[19], "boot": strings.TrimSpace(string(boot)), "mark": mark,
	}
}

func TestWhatAnEarlierRunHasLeft(t *testing.T) {
	for _, c := range []struct {
		name   string
		mark   string
		change func(record map[string]any)
		killed bool
	}{
		{"known by its start time", "unmarked", func(r map[string]any) { r["mark"] = "other" }, true},
		{"known by its mark", "marked", func(r map[string]any) { r["started"] = "1" }, true},
		{"in a group of its own", "elsewhere", func(r map[string]any) { r["pid"] = 1 << 30 }, true},
		{"another process with the same ID", "stranger", func(r map[string]any) { r["started"], r["mark"] = "1", "other" }, false},
		{"from before the last boot", "old", func(r map[string]any) { r["boot"] = "before" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			record := stray(t, c.mark)
			pid := fmt.Sprint(record["pid"])

			c.change(record)

			text, err := json.Marshal(record)
			require.NoError(t, err)

			require.NoError(t, os.Mkdir(filepath.Join(dir, "run"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "run", "one.pid.json"), text, 0o644))

			s, err := supervise.Open(config(t, dir, nil))
			require.NoError(t, err)

			assert.Equal(t, c.killed, !runs(pid))
			assert.NoFileExists(t, filepath.Join(dir, "run", "one.pid.json"))
			require.NoError(t, s.Close(t.Context()))
		})
	}
}

func TestALogThatIsLongIsPutAside(t *testing.T) {
	b := open(t, nil)

	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "log", "one.log"), make([]byte, 2<<20), 0o640))
	require.NoError(t, b.Set("one", shell("echo fresh; sleep 1000")))

	b.await("one", in(supervise.Running))
	assert.Equal(t, "fresh", b.read("log/one.log"))
	assert.FileExists(t, filepath.Join(b.dir, "log", "one.log.1"))
}
