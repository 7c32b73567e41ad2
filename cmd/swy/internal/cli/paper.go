package cli

import (
	"io"
	"os"
	"strings"
)

// paper shows one table after the other.
type paper struct {
	out  io.Writer
	used bool
}

func (p *paper) show(draw func(width, height int) []string) error {
	text := strings.Join(draw(0, 0), "\n") + "\n"

	if p.used {
		text = "\n" + text
	}

	p.used = true

	_, err := io.WriteString(p.out, text)

	return err
}

func (p *paper) quit() <-chan struct{} { return nil }

func (p *paper) resized() <-chan os.Signal { return nil }
