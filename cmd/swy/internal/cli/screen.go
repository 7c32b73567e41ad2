package cli

import (
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/term"
)

// What a terminal is told: the screen that is not the one of the shell, without a cursor, and back again.
const (
	enter = "\x1b[?1049h\x1b[?25l"
	leave = "\x1b[?25h\x1b[?1049l"
	home  = "\x1b[H"
	// rest clears what is right of a line, and below what is below the last.
	rest  = "\x1b[K"
	below = "\x1b[J"
)

// screen shows tables in place, on a terminal. It has a goroutine that reads keys, which has ended when close returns.
type screen struct {
	out *os.File
	// keys is the terminal as keys are read from it, and before how it was. Both are nil if there are none to be read.
	keys   *os.File
	before *term.State

	wants chan struct{}
	ended chan struct{}
	sizes chan os.Signal
}

func openScreen(out *os.File) (*screen, error) {
	s := &screen{out: out, wants: make(chan struct{}), ended: make(chan struct{}), sizes: make(chan os.Signal, 1)}

	if err := s.readKeys(); err != nil {
		return nil, err
	}

	if resize != nil {
		signal.Notify(s.sizes, resize)
	}

	_, err := out.WriteString(enter)

	return s, err
}

// readKeys has keys come one by one, from the terminal itself: what is piped in is none of them. Where there is no such terminal,
// or its reading can not be ended, only a signal ends it.
func (s *screen) readKeys() error {
	keys, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil || keys.SetReadDeadline(time.Time{}) != nil {
		close(s.ended)

		return nil
	}

	conn, err := keys.SyscallConn()
	if err != nil {
		return err
	}

	// The file must not become a blocking one, as it does when it is asked for its descriptor.
	failed := conn.Control(func(fd uintptr) { s.before, err = term.MakeRaw(int(fd)) })
	if failed != nil || err != nil {
		close(s.ended)

		return keys.Close()
	}

	s.keys = keys

	go func() { // close ends it, and waits for it
		defer close(s.ended)

		one := make([]byte, 1)

		for {
			n, err := keys.Read(one)
			if err != nil {
				return
			}

			if n == 1 && strings.Contains("qQ\x03\x04", string(one)) {
				close(s.wants)

				return
			}
		}
	}()

	return nil
}

func (s *screen) close() {
	signal.Stop(s.sizes)

	_, _ = s.out.WriteString(leave) // a terminal that has gone needs no farewell

	if s.keys == nil {
		return
	}

	_ = s.keys.SetReadDeadline(time.Unix(1, 0)) // it could be set when the screen was opened

	<-s.ended

	if conn, err := s.keys.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { _ = term.Restore(int(fd), s.before) }) // as above
	}

	_ = s.keys.Close()
}

func (s *screen) show(draw func(width, height int) []string) error {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}

	text := home + strings.Join(draw(width, height), rest+"\r\n") + rest + below

	_, err = s.out.WriteString(text)

	return err
}

func (s *screen) quit() <-chan struct{} { return s.wants }

func (s *screen) resized() <-chan os.Signal { return s.sizes }
