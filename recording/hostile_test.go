package recording_test

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/recording"
)

func reader(kept string) io.Reader { return strings.NewReader(kept) }

func TestHostileRecordings(t *testing.T) {
	t.Parallel()

	const (
		head  = `{"recording":{"version":1}}` + "\n"
		enrol = `{"controller":{"name":"Writer","form":"classic"}}` + "\n"
		start = `{"begin":{"pass":1,"controller":"Writer","by":"started"}}` + "\n"
		one   = `{"resource":{"number":1,"content":{"namespace":"default","type":"test/int","id":"a","version":"1","phase":"running",` +
			`"created":"2020-01-01T00:00:00Z","updated":"2020-01-01T00:00:00Z"}}}` + "\n"
	)

	for kept, problem := range map[string]string{
		"":                                       "line 1",
		"hello\n":                                "line 1",
		"{}\n":                                   "does not begin as a recording does",
		`{"recording":{"ver`:                     "line 1",
		"[1,2]\n":                                "line 1",
		enrol:                                    "does not begin as a recording does",
		`{"recording":{"version":2}}` + "\n":     "version 2 of the format, and this package reads version 1",
		head + "\n":                              "line 2",
		head + "{}\n":                            "says nothing",
		head + `{"surprise":{}}` + "\n":          "unknown field",
		head + enrol + "{\"begin\"\n" + start:    "line 3",
		head + enrol + enrol[:20] + "\n" + start: "line 3",
		head + `{"controller":{"name":"Writer","form":"odd"}}` + "\n": "unknown form",
		head + start:                 "was not registered before its pass",
		head + enrol + start + start: "pass 1 does not follow pass 1",
		head + enrol + strings.Replace(start, "started", "woken", 1):                                                       `can not begin as "woken"`,
		head + enrol + strings.Replace(start, "started", "reconcile", 1):                                                   `can not begin as "reconcile"`,
		head + enrol + strings.Replace(start, `:1`, `:7`, 1):                                                               "pass 7 does not follow pass 0",
		head + enrol + start + `{"finish":{"pass":1}}` + "\n" + `{"finish":{"pass":1}}` + "\n":                             "pass 1 has ended before",
		head + enrol + start + `{"finish":{"pass":0}}` + "\n":                                                              "pass 0 has not begun",
		head + enrol + `{"call":{"pass":1,"number":1,"request":{"verb":"get"}}}` + "\n":                                    "pass 1 has not begun",
		head + enrol + start + `{"call":{"pass":1,"number":0,"request":{"verb":"get"}}}` + "\n":                            "no number of a new call",
		head + enrol + start + `{"call":{"pass":1,"number":1,"request":{"verb":"get"},"answer":{"resources":[3]}}}` + "\n": "no resource 3",
		head + enrol + start + `{"call":{"pass":1,"number":1,"request":{"verb":"modify"},"attempts":[{"base":0}]}}` + "\n": "nothing to begin with",
		head + enrol + start + `{"event":{"pass":1,"what":"fired","of":1}}` + "\n":                                         "no call 1",
		head + enrol + start + `{"event":{"pass":1,"what":"rain"}}` + "\n":                                                 "unknown event",
		head + `{"change":{"of":{"id":"a"},"content":1}}` + "\n":                                                           "no resource 1",
		head + one + one: "no number of a new resource",
		head + one + `{"change":{"of":{"id":"b"},"content":1}}` + "\n":                  "resource 1 is another one",
		head + strings.Replace(one, "test/int", "test/unknown", 1):                      "its type is not registered",
		head + strings.Replace(one, `"1","phase"`, `"x","phase"`, 1):                    "version",
		head + strings.Replace(one, "running", "crawling", 1):                           "phase",
		head + `{"end":{"lines":1,"passes":0,"sequence":"","state":""}}` + "\n":         "does not add up",
		head + `{"end":{"lines":2,"passes":0,"sequence":"","state":""}}` + "\n":         "2 lines came before it",
		head + `{"end":{"lines":1,"passes":0,"sequence":"","state":""}}` + "\n" + enrol: "the recording has ended before it",
	} {
		_, err := replay(t, kept, registerWriter(strconv.Itoa))

		var format *recording.FormatError

		require.ErrorAs(t, err, &format, "%s", kept)
		require.ErrorContains(t, err, problem, "%s", kept)
	}
}

func TestControllersOfARecordingHaveToBeThere(t *testing.T) {
	t.Parallel()

	kept, _ := recordWriter(t)

	var unknown *recording.UnknownControllerError

	_, err := replay(t, kept, func(controller.Engine) error { return nil })
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "Writer", unknown.Controller)

	_, err = replay(t, strings.ReplaceAll(kept, `"classic"`, `"queue"`), registerWriter(strconv.Itoa))
	require.Error(t, err)

	refused := errors.New("refused")

	_, err = replay(t, kept, func(controller.Engine) error { return refused })
	require.ErrorIs(t, err, refused)

	_, err = replay(t, kept, func(engine controller.Engine) error { return engine.Run(t.Context()) })
	require.ErrorIs(t, err, recording.ErrReplayEngine)

	broken := errors.New("broken")

	_, err = recording.Replay(t.Context(), iotest.ErrReader(broken), registerWriter(strconv.Itoa))
	require.ErrorIs(t, err, broken)
}

// What was taken out of a recording is missed, even where every line that is left can be read.
func TestMissingLinesAreFound(t *testing.T) {
	t.Parallel()

	kept, _ := recordWriter(t)
	lines := strings.SplitAfter(kept, "\n")

	for i := 1; i < len(lines)-2; i++ {
		without := strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "")

		_, err := replay(t, without, registerWriter(strconv.Itoa))
		require.Error(t, err, "without line %d: %s", i+1, lines[i])
	}
}

// full is a disk with room for some lines.
type full struct{ left int }

var errFull = errors.New("the disk is full")

func (f *full) Write(text []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errFull
	}

	return len(text), nil
}

func TestTroubleOfARecorderIsItsOwn(t *testing.T) {
	t.Parallel()

	rec := recording.New(&full{left: 3})
	st := rec.State(newState())

	for i := range 10 {
		require.NoError(t, st.Create(t.Context(), number(fmt.Sprint(i), i)))
	}

	require.ErrorIs(t, rec.Err(), errFull)

	_, err := rec.Close()
	require.ErrorIs(t, err, errFull)

	_, err = rec.Close()
	require.ErrorIs(t, err, recording.ErrClosed)
	require.NoError(t, st.Create(t.Context(), number("later", 0)))
}

type unregisteredSpec struct{ Value string }

func (s unregisteredSpec) DeepCopy() unregisteredSpec { return s }

type unregisteredExtension struct{}

func (unregisteredExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Unregistered.test", DefaultNamespace: ns}
}

func TestUnregisteredTypesAreNamed(t *testing.T) {
	t.Parallel()

	rec := recording.New(io.Discard)
	st := rec.State(newState())

	res := typed.NewResource[unregisteredSpec, unregisteredExtension](
		resource.NewMetadata(ns, "Unregistered.test", "a", resource.VersionUndefined), unregisteredSpec{"x"})
	require.NoError(t, st.Create(t.Context(), res))

	_, err := rec.Close()
	require.ErrorContains(t, err, "Unregistered.test(default/a) cannot be recorded")
	require.ErrorContains(t, err, "RegisterDynamic")
}
