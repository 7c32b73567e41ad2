package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
)

// tape is a recording in memory.
type tape struct {
	controllers map[string]form
	contents    map[int]*content
	passes      []*recordedPass
	calls       map[int]*recordedCall
	changes     []*change
	// end is nil if the recording was cut; endLine is its line.
	end     *end
	endLine int

	// present are the passes that have not ended: of a classic controller by name, of queue controllers by number.
	present map[string]*recordedPass
	open    map[int]*recordedPass
}

// recordedPass is a pass of a recording.
type recordedPass struct {
	begin

	// entries are its calls and events in the order in which they were written down.
	entries []entry
	// run is the first pass of the Run that a pass of a classic controller belongs to.
	run *recordedPass
	// finish is nil if the pass ended by the next one of the Run, or was cut.
	finish *finish
	// cut tells that the recording ended before the pass did.
	cut bool
}

// entry is a call or an event.
type entry struct {
	call  *recordedCall
	event *event
}

// recordedCall is a call with the changes that it made.
type recordedCall struct {
	call

	changes []*change
}

// read reads a recording.
func read(r io.Reader) (*tape, error) {
	t := &tape{
		controllers: map[string]form{}, contents: map[int]*content{}, calls: map[int]*recordedCall{},
		present: map[string]*recordedPass{}, open: map[int]*recordedPass{},
	}

	lines := bufio.NewReader(r)

	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the recording cannot be read: %w", err)
		}

		last := err != nil

		if len(text) == 0 && last && number > 1 {
			break
		}

		var l line

		if err := parse(text, &l); err != nil {
			if last && number > 1 {
				break // whoever wrote it has ended in the middle
			}

			return nil, &FormatError{Line: number, Problem: err.Error()}
		}

		if err := t.take(number, l); err != nil {
			return nil, &FormatError{Line: number, Problem: err.Error()}
		}

		if last {
			break
		}
	}

	for _, p := range t.present {
		p.cut = true
	}

	for _, p := range t.open {
		p.cut = true
	}

	t.link()

	for _, p := range t.passes {
		p.order()
	}

	return t, nil
}

func parse(text []byte, l *line) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()

	if err := decoder.Decode(l); err != nil {
		return fmt.Errorf("it is not what a recorder writes: %w", err)
	}

	if decoder.More() {
		return errors.New("it has more than one object")
	}

	return nil
}

// link gives each call its changes. A change without a call is one from outside, or its call was cut.
func (t *tape) link() {
	for _, c := range t.changes {
		if made := t.calls[c.Call]; made != nil {
			made.changes = append(made.changes, c)
		}
	}
}

// order puts the ends of contexts after the last time that the pass has taken from a timer: whoever waits for both at once
// may take the one that came later, and shows by it that the other has not been noticed.
func (p *recordedPass) order() {
	last := -1

	for i, e := range p.entries {
		if e.event != nil && e.event.What == fired {
			last = i
		}
	}

	if last < 0 {
		return
	}

	var (
		ordered = make([]entry, 0, len(p.entries))
		ends    []entry
	)

	for _, e := range p.entries[:last+1] {
		if e.event != nil && e.event.What != fired {
			e.event.Begun = p.entries[last].event.Begun
			ends = append(ends, e)
		} else {
			ordered = append(ordered, e)
		}
	}

	p.entries = slices.Concat(ordered, ends, p.entries[last+1:])
}

// resource makes a fresh resource of a number.
func (t *tape) resource(number int) (resource.Resource, error) {
	if number == 0 {
		return nil, nil
	}

	return t.contents[number].decode()
}
