package recording

import (
	"errors"
	"fmt"
	"slices"
)

// take takes in a line, where it fits to those before it.
func (t *tape) take(number int, l line) error {
	if number == 1 {
		switch {
		case l.Recording == nil:
			return errors.New("it does not begin as a recording does")
		case l.Recording.Version != version:
			return fmt.Errorf("it is of version %d of the format, and this package reads version %d; replay it with the version of the package that recorded it",
				l.Recording.Version, version)
		}

		return nil
	}

	if t.end != nil {
		return errors.New("the recording has ended before it")
	}

	switch {
	case l.Controller != nil:
		return t.takeController(l.Controller)
	case l.Resource != nil:
		return t.takeContent(l.Resource)
	case l.Begin != nil:
		return t.takeBegin(l.Begin)
	case l.Call != nil:
		return t.takeCall(l.Call)
	case l.Event != nil:
		return t.takeEvent(l.Event)
	case l.Change != nil:
		return t.takeChange(l.Change)
	case l.Finish != nil:
		return t.takeFinish(l.Finish)
	case l.End != nil:
		t.end, t.endLine = l.End, number

		if l.End.Lines != number-1 {
			return fmt.Errorf("%d lines came before it when it was written; something was taken out of the recording or put in", l.End.Lines)
		}

		return nil
	default:
		return errors.New("it says nothing")
	}
}

func (t *tape) takeController(c *enrolled) error {
	if c.Form != classicForm && c.Form != queueForm {
		return fmt.Errorf("controller %q is of the unknown form %q", c.Name, c.Form)
	}

	t.controllers[c.Name] = c.Form

	return nil
}

func (t *tape) takeContent(c *numbered) error {
	if c.Content == nil || c.Number <= 0 || t.contents[c.Number] != nil {
		return fmt.Errorf("number %d is no number of a new resource", c.Number)
	}

	if _, err := c.Content.decode(); err != nil {
		return err
	}

	t.contents[c.Number] = c.Content

	return nil
}

func (t *tape) takeBegin(b *begin) error {
	form, known := t.controllers[b.Controller]

	switch {
	case !known:
		return fmt.Errorf("controller %q was not registered before its pass", b.Controller)
	case b.Pass != len(t.passes)+1:
		return fmt.Errorf("pass %d does not follow pass %d", b.Pass, len(t.passes))
	case form == queueForm && (b.By == Reconciled && b.Of == nil || b.By == Mapped && (b.Of == nil || b.Facts == nil)):
		return fmt.Errorf("pass %d does not say what it is about", b.Pass)
	}

	p := &recordedPass{begin: *b}
	before := t.present[b.Controller]

	switch {
	case form == queueForm && (b.By == Reconciled || b.By == Mapped):
		t.open[b.Pass] = p
	case form == classicForm && b.By == Started && before == nil:
		p.run = p
		t.present[b.Controller] = p
	case form == classicForm && b.By == Woken && before != nil:
		p.run = before.run
		p.inherit(before)
		t.present[b.Controller] = p
	default:
		return fmt.Errorf("pass %d of controller %q can not begin as %q here", b.Pass, b.Controller, b.By)
	}

	t.passes = append(t.passes, p)

	return nil
}

// inherit takes over the end of the context from the pass before: the controller has taken one more wakeup after it, as a
// choice among several channels may go.
func (p *recordedPass) inherit(before *recordedPass) {
	for i, e := range before.entries {
		if e.event != nil && e.event.What == canceled {
			before.entries = slices.Delete(before.entries, i, i+1)
			e.event.Begun = 0
			p.entries = append(p.entries, e)

			return
		}
	}
}

// find returns a pass that has not ended.
func (t *tape) find(number int) (*recordedPass, error) {
	if number < 1 || number > len(t.passes) {
		return nil, fmt.Errorf("pass %d has not begun", number)
	}

	p := t.passes[number-1]

	// A goroutine of a controller's own may be in the middle of a call when the next pass begins.
	if running := t.present[p.Controller]; t.open[number] != p && (running == nil || running.run != p.run) {
		return nil, fmt.Errorf("pass %d has ended before", number)
	}

	return p, nil
}

func (t *tape) takeCall(c *call) error {
	p, err := t.find(c.Pass)
	if err != nil {
		return err
	}

	if c.Number <= 0 || t.calls[c.Number] != nil {
		return fmt.Errorf("number %d is no number of a new call", c.Number)
	}

	numbers := append([]int{c.Request.Content}, c.Answer.Resources...)
	for _, a := range c.Attempts {
		if a.Base == 0 || a.Made == 0 && a.Error == nil {
			return errors.New("a call of modify has nothing to begin with, or has come to nothing")
		}

		numbers = append(numbers, a.Base, a.Made)
	}

	if err := t.known(numbers...); err != nil {
		return err
	}

	taken := &recordedCall{call: *c}
	t.calls[c.Number] = taken
	p.entries = append(p.entries, entry{call: taken})

	return nil
}

// known checks numbers of contents, of which 0 stands for none.
func (t *tape) known(numbers ...int) error {
	for _, n := range numbers {
		if n != 0 && t.contents[n] == nil {
			return fmt.Errorf("there is no resource %d before it", n)
		}
	}

	return nil
}

func (t *tape) takeEvent(e *event) error {
	p, err := t.find(e.Pass)
	if err != nil {
		return err
	}

	switch e.What {
	case canceled:
	case toreDown, fired:
		if t.calls[e.Of] == nil {
			return fmt.Errorf("there is no call %d before it", e.Of)
		}
	default:
		return fmt.Errorf("%q is an unknown event", e.What)
	}

	p.entries = append(p.entries, entry{event: e})

	return nil
}

func (t *tape) takeChange(c *change) error {
	if err := t.known(c.Content); err != nil {
		return err
	}

	if c.Content != 0 && t.contents[c.Content].name != c.Of {
		return fmt.Errorf("resource %d is another one than %s", c.Content, c.Of)
	}

	t.changes = append(t.changes, c)

	return nil
}

func (t *tape) takeFinish(f *finish) error {
	p, err := t.find(f.Pass)
	if err != nil {
		return err
	}

	if running := t.present[p.Controller]; p.run != nil && running != p {
		return fmt.Errorf("pass %d is not the last one of its Run", f.Pass)
	}

	p.finish = f

	delete(t.open, f.Pass)
	delete(t.present, p.Controller)

	return nil
}
