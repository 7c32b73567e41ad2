package supervise

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts a process into a group of its own, and has the kernel kill it when the thread that started it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the process has ended, and leaves it to be reaped.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func signalGroup(pid int, sig syscall.Signal) {
	_ = syscall.Kill(-pid, sig) // fails only if nobody is left
}

// groupRuns tells whether a process of the group still runs; one that has ended and waits to be reaped does not.
func groupRuns(pgid int) bool {
	return len(find(func(_ int, st stat) bool { return st.group == pgid })) > 0
}

// strays finds the running processes outside of a group that carry a mark in their environment: descendants of its
// leader that have made a group of their own.
func strays(pgid int, mark string) []int {
	return find(func(pid int, st stat) bool { return st.group != pgid && hasMark(pid, mark) })
}

// recorded finds the running processes that a record is about: the leader, known by its start time, and those that
// carry the mark.
func recorded(r record) []int {
	return find(func(pid int, st stat) bool {
		return pid == r.PID && st.group == pid && st.started == r.Started || hasMark(pid, r.Mark)
	})
}

// find returns the running processes that are wanted. This one is never among them.
func find(wanted func(pid int, st stat) bool) []int {
	var pids []int

	for _, pid := range processes() {
		if st, ok := readStat(pid); ok && st.runs() && pid != os.Getpid() && wanted(pid, st) {
			pids = append(pids, pid)
		}
	}

	return pids
}

func hasMark(pid int, mark string) bool {
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // gone, or somebody else's
	}

	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		if string(entry) == marker+"="+mark {
			return true
		}
	}

	return false
}

func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // fails only if it is gone
	}
}

func startTime(pid int) string {
	st, _ := readStat(pid)

	return st.started
}

func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}

	return strings.TrimSpace(string(id))
}

func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()

	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}

	var pids []int

	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}

	return pids
}

// stat is the part of /proc/PID/stat that matters here.
type stat struct {
	state, started string
	group          int
}

func (s stat) runs() bool { return s.state != "Z" && s.state != "X" }

func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}

	// The name, in brackets, may hold anything; what follows the last bracket is numbers and one letter.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))

	const state, group, started = 0, 2, 19 // fields 3, 5 and 22 of the manual page

	if len(fields) <= started {
		return stat{}, false
	}

	pgid, err := strconv.Atoi(fields[group])

	return stat{state: fields[state], started: fields[started], group: pgid}, err == nil
}
