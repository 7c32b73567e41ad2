package controllertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap/zapcore"
)

// mostFaulty is how many calls of one turn may fail: whoever tries again and again without waiting comes through after that.
const mostFaulty = 1000

func (w *World) faulty() bool { return w.sched.turns() <= w.faults.Turns }

// mayFail tells whether a call of the state may fail, and counts it.
func (w *World) mayFail() bool { return w.faulty() && w.sched.called() <= mostFaulty }

func kindOf(kind resource.Kind) [2]string { return [2]string{kind.Namespace(), kind.Type()} }

func (w *World) saw(kind resource.Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.kinds[kindOf(kind)] = struct{}{}
}

// wrote counts a write of a controller, and returns which one it was.
func (w *World) wrote() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.writes++
	w.active = time.Now()

	return w.writes
}

// stirred keeps the world from counting as settled for a while: something was written from outside, a pass has failed, or a
// watch has left something out that an audit is to find.
func (w *World) stirred() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.active = time.Now()
}

// noted is a write of a controller.
type noted struct {
	text string
	// res is what was written; nil if it was destroyed.
	res resource.Resource
}

// mark has writes noted from now on.
func (w *World) mark() {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.marked = true
}

// note notes a write of a controller if there was a mark.
func (w *World) note(text string, res resource.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if !w.marked {
		return
	}

	if res != nil {
		res = res.DeepCopy()
	}

	w.noted = append(w.noted, noted{text, res})
}

// sinceMark tells of the writes since the mark that count: see [World.Compare].
func (w *World) sinceMark() (texts []string) {
	w.mu.Lock()
	all := w.noted
	w.mu.Unlock()

	for _, n := range all {
		if n.res == nil || w.normalized(n.res) != nil {
			texts = append(texts, n.text)
		}
	}

	return texts
}

func (w *World) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.writes
}

// logged takes a line of the log.
func (w *World) logged(entry zapcore.Entry, fields map[string]any) {
	by := logged
	if name, ok := fields["controller"].(string); ok {
		by = w.trace.author(name, name)
	}

	list := make([]string, 0, len(fields))
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != "controller" {
			list = append(list, fmt.Sprintf("%s=%v", key, fields[key]))
		}
	}

	w.trace.note(by, "%s: %s %s", entry.Level, entry.Message, strings.Join(list, " "))
}
