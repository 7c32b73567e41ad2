//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal is a terminal of the test, with swy on it.
type terminal struct {
	*running

	keys *os.File
}

// openTerminal runs swy on a terminal of a size.
func (h *host) openTerminal(width, height uint16, args ...string) *terminal {
	h.t.Helper()

	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = keys.Close() })

	tt := &terminal{keys: keys}

	var number int

	tt.control(h.t, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}

		var err error
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)

		return err
	})

	tt.resize(h.t, width, height)

	far, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(h.t, err)

	defer far.Close()

	cmd := exec.Command(swy, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = h.env(), far, far, far
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}

	tt.running = &running{t: h.t, cmd: cmd, stdout: newOutput(), stderr: newOutput()}
	require.NoError(h.t, cmd.Start())

	read := make(chan struct{})

	go func() { // the cleanup below waits for it
		defer close(read)

		buffer := make([]byte, 4096)

		for {
			n, err := keys.Read(buffer)
			if err != nil {
				return
			}

			_, _ = tt.stdout.Write(buffer[:n]) // it takes everything
		}
	}()

	h.t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}

		_ = keys.Close()
		<-read
	})

	return tt
}

func (tt *terminal) control(t *testing.T, do func(fd int) error) {
	t.Helper()

	conn, err := tt.keys.SyscallConn()
	require.NoError(t, err)

	require.NoError(t, conn.Control(func(fd uintptr) { err = do(int(fd)) }))
	require.NoError(t, err)
}

func (tt *terminal) resize(t *testing.T, width, height uint16) {
	t.Helper()

	tt.control(t, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width})
	})
}

// settings are those of the terminal, which a program that ends has to leave as they were.
func (tt *terminal) settings(t *testing.T) (s unix.Termios) {
	t.Helper()

	tt.control(t, func(fd int) error {
		found, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			s = *found
		}

		return err
	})

	return s
}

// drawn is the last table, as lines.
func drawn(text string) []string {
	text = text[strings.LastIndex(text, "\x1b[H")+len("\x1b[H"):]

	return strings.Split(strings.ReplaceAll(strings.TrimSuffix(text, "\x1b[K\x1b[J"), "\x1b[K", ""), "\r\n")
}

func TestTopOnATerminal(t *testing.T) {
	t.Parallel()

	h := launch(t)

	for name, how := range map[string]func(*terminal){
		"q":      func(tt *terminal) { _, _ = tt.keys.WriteString("xq") },
		"ctrl-c": func(tt *terminal) { _, _ = tt.keys.WriteString("\x03") },
		"signal": func(tt *terminal) { _ = tt.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		tt := h.openTerminal(60, 10, "top", "-n", "100ms")
		tt.stdout.waitFor(t, "a whole table", func(text string) bool { return strings.HasSuffix(text, "\x1b[J") })

		lines := drawn(tt.stdout.String())
		assert.Len(t, lines, 10, name)
		assert.Contains(t, lines[9], "more", name)

		for _, line := range lines {
			assert.LessOrEqual(t, len([]rune(line)), 60, name)
			assert.NotContains(t, line, "Destroy[RestartRequests.appliance.switchyard.run]", name)
		}

		tt.resize(t, 200, 50)
		tt.stdout.waitFor(t, "a larger table", func(text string) bool {
			return strings.HasSuffix(text, "\x1b[J") && strings.Contains(drawn(text)[0], "passes/s") && len(drawn(text)) > 15
		})

		how(tt)

		_ = tt.cmd.Wait() // the exit code says it
		assert.Equal(t, 0, tt.cmd.ProcessState.ExitCode(), name)

		tt.stdout.wait(t, "\x1b[?25h\x1b[?1049l")
		assert.True(t, strings.HasPrefix(tt.stdout.String(), "\x1b[?1049h\x1b[?25l"), name)
		assert.NotZero(t, tt.settings(t).Lflag&unix.ECHO, "%s: the terminal is as it was", name)
		assert.NotZero(t, tt.settings(t).Lflag&unix.ICANON, name)
	}
}

func TestTopWithoutATerminal(t *testing.T) {
	t.Parallel()

	h := launch(t)

	text := h.ok("top", "--count", "2", "-n", "100ms")
	assert.Equal(t, 2, strings.Count(text, "CONTROLLER"))
	assert.NotContains(t, text, "\x1b")

	// The appliance goes, and comes back.
	top := h.begin("top", "--interval=100ms")
	top.stdout.wait(t, "ProcessController")
	h.stop()
	top.stdout.wait(t, "not up to date: ")
	h.start()

	// Since h.start has waited for its services, there is a table that is up to date.
	seen := len(top.stdout.String())
	top.stdout.waitFor(t, "a table", func(text string) bool {
		tables := strings.Split(text[seen:], "\n\n")

		return len(tables) > 5 && !strings.Contains(tables[len(tables)-3], "not up to date") && strings.Contains(text[seen:], "ProcessController")
	})
	top.end(0)
}
