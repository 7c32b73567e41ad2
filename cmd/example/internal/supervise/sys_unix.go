//go:build unix && !linux

package supervise

import (
	"os/exec"
	"syscall"
)

// attributes puts a process into a group of its own. Without a kernel that kills it with the control plane, the
// records have to do.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// awaitExit returns when the process has ended and was reaped.
func awaitExit(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state says the same
}

func signalGroup(pid int, sig syscall.Signal) {
	_ = syscall.Kill(-pid, sig) // fails only if nobody is left
}

// groupRuns tells whether a process of the group is left.
func groupRuns(pgid int) bool {
	return syscall.Kill(-pgid, 0) == nil
}

// strays finds nobody: the environment of other processes cannot be read here.
func strays(int, string) []int { return nil }

// recorded finds the group that a record is about. Start times cannot be compared here, so the group ID has to do.
func recorded(r record) []int {
	if !groupRuns(r.PID) {
		return nil
	}

	return []int{-r.PID}
}

func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig) // fails only if it is gone
	}
}

func startTime(int) string { return "" }

func bootID() string { return "" }
