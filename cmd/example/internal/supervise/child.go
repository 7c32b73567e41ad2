package supervise

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// marker is the variable by which a process is known to belong to a unit of a root, also when its parent is gone.
const marker = "APPLIANCE_UNIT"

// logLimit is the size from which a log is put aside when its service is started, in bytes.
const logLimit = 1 << 20

// child is a running process, the leader of a group of its own.
type child struct {
	cmd *exec.Cmd
	pid int
	// log knows the service.
	log *zap.Logger
	// mark is what the environment of the process says, and of its descendants.
	mark string
	// exited is closed when the leader has ended. On Linux it is not reaped before reap is called, so that its ID,
	// which is that of the group too, stays taken while the rest of the group is being stopped.
	exited chan struct{}
}

// start starts a process and leaves a record of it.
func (s *Supervisor) start(name string, def Definition) (*child, error) {
	// Somebody may have cleaned up.
	if err := makeDirs(s.cfg); err != nil {
		return nil, err
	}

	log, err := s.openLog(name)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	cmd := exec.Command(def.Command[0], def.Command[1:]...)
	cmd.Dir = s.cfg.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(inherited(), def.Env...)
	cmd.Env = append(cmd.Env, marker+"="+s.mark(name))
	cmd.SysProcAttr = attributes()

	if err := s.spawner.start(cmd); err != nil {
		return nil, err
	}

	c := &child{
		cmd: cmd, pid: cmd.Process.Pid, mark: s.mark(name), exited: make(chan struct{}),
		log: s.cfg.Logger.With(zap.String("service", name)),
	}

	if err := s.remember(name, c); err != nil {
		c.log.Warn("no record of a process could be left", zap.Error(err))
	}

	go func() { // ends with the process; whoever started it waits for exited
		defer close(c.exited)

		awaitExit(cmd)
	}()

	return c, nil
}

// reap collects the exit of the leader and puts it in words; true means code 0. It waits for exited.
func (c *child) reap() (string, bool) {
	<-c.exited

	if c.cmd.ProcessState == nil {
		// The error repeats what the state says.
		_ = c.cmd.Wait()
	}

	state := c.cmd.ProcessState
	if state == nil {
		return "its end could not be observed", false
	}

	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return fmt.Sprintf("ended by signal %d (%s)", int(status.Signal()), status.Signal()), false
	}

	return fmt.Sprintf("exited with code %d", state.ExitCode()), state.Success()
}

// poll is how often a group that is being stopped is looked at.
const poll = 10 * time.Millisecond

// end stops a child and all that it has started, and returns when nothing of it runs any more. Descendants that have
// left the group are asked to end with it, and have no time of their own.
func (s *Supervisor) end(c *child, grace time.Duration) {
	if !s.groupEnded(c) {
		signalAll(strays(c.pid, c.mark), syscall.SIGTERM)
		s.endGroup(c, grace)
	}

	for pids := strays(c.pid, c.mark); len(pids) > 0; pids = strays(c.pid, c.mark) {
		signalAll(pids, syscall.SIGKILL)
		s.cfg.Clock.Sleep(poll)
	}
}

// endGroup stops everything in the group of a child: SIGTERM, and SIGKILL when the grace time is over.
func (s *Supervisor) endGroup(c *child, grace time.Duration) {
	signalGroup(c.pid, syscall.SIGTERM)

	limit := s.cfg.Clock.NewTimer(grace)
	defer limit.Stop()

	due, kill, exited := limit.Chan(), s.kill, c.exited

	for !s.groupEnded(c) {
		tick := s.cfg.Clock.NewTimer(poll)

		select {
		case <-exited:
			exited = nil // most often nobody else is in the group, and that is all
		case <-due:
			c.log.Warn("a service did not stop in time and is killed", zap.Int("pid", c.pid))
			signalGroup(c.pid, syscall.SIGKILL)

			due = nil
		case <-kill:
			signalGroup(c.pid, syscall.SIGKILL)

			kill = nil
		case <-tick.Chan():
			if due == nil || kill == nil {
				signalGroup(c.pid, syscall.SIGKILL) // somebody may have been born since
			}
		}

		tick.Stop()
	}
}

func (s *Supervisor) groupEnded(c *child) bool {
	select {
	case <-c.exited:
		return !groupRuns(c.pid)
	default:
		return false
	}
}

// mark is different for each run of a supervisor: on a system that looks into containers, the same directory and the same
// names may well be there twice.
func (s *Supervisor) mark(name string) string {
	pid := os.Getpid()

	return fmt.Sprintf("%s:%s:%d.%s", s.cfg.Dir, name, pid, startTime(pid))
}

func (s *Supervisor) openLog(name string) (*os.File, error) {
	file := path.Join(s.cfg.LogDir, name+".log")

	if info, err := s.cfg.Root.Stat(file); err == nil && info.Size() > logLimit {
		if err := s.cfg.Root.Rename(file, file+".1"); err != nil {
			return nil, err
		}
	}

	return s.cfg.Root.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, fs.FileMode(0o640))
}

// inherited is what a process gets from the environment of the control plane.
func inherited() []string {
	var env []string

	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}

	return env
}

// spawner starts processes from one operating system thread that lives as long as the supervisor: the kernel's
// "signal me when my parent dies" means the thread that started the process, and Go ends idle threads.
type spawner struct {
	requests chan request
	done     chan struct{}
}

type request struct {
	cmd   *exec.Cmd
	reply chan<- error
}

func startSpawner() *spawner {
	sp := &spawner{requests: make(chan request), done: make(chan struct{})}

	go func() { // ends when stop closes requests
		defer close(sp.done)

		runtime.LockOSThread()
		defer runtime.UnlockOSThread()

		for r := range sp.requests {
			r.reply <- r.cmd.Start()
		}
	}()

	return sp
}

func (sp *spawner) start(cmd *exec.Cmd) error {
	reply := make(chan error, 1)
	sp.requests <- request{cmd, reply}

	return <-reply
}

// stop ends the spawner. No process may be running or be started any more.
func (sp *spawner) stop() {
	close(sp.requests)
	<-sp.done
}

// unitFile turns the name of a record into the name of a unit.
func unitFile(file string) (string, bool) {
	return strings.CutSuffix(file, recordSuffix)
}
