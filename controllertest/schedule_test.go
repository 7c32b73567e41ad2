package controllertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
)

func TestSchedulesAreRead(t *testing.T) {
	for text, want := range map[string]controllertest.Schedule{
		"17":                        {Seed: 17},
		"17:":                       {Seed: 17, Kept: map[string]int{}},
		"0:":                        controllertest.Calm(),
		"17:turn+3=2":               {Seed: 17, Kept: map[string]int{"turn 3": 2}},
		"17:a%26b%3D%3A=1&turn+3=2": {Seed: 17, Kept: map[string]int{"a&b=:": 1, "turn 3": 2}},
	} {
		got, err := controllertest.ParseSchedule(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		assert.Equal(t, text, got.String())
	}
}

func TestBadSchedulesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":             `the seed "" is not a number`,
		"x:":           `the seed "x" is not a number`,
		"-1":           `the seed "-1" is not a number`,
		"1:turn=":      `decision "turn" has the value "", which is not a number above 0`,
		"1:turn=0":     `decision "turn" has the value "0", which is not a number above 0`,
		"1:turn":       `decision "turn" has the value "", which is not a number above 0`,
		"1:%zz=1":      `invalid URL escape "%zz"`,
		"1:a=1&turn=x": `decision "turn" has the value "x", which is not a number above 0`,
	} {
		_, err := controllertest.ParseSchedule(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
		assert.Contains(t, err.Error(), `schedule "`+text+`"`)
	}
}

func FuzzSchedules(f *testing.F) {
	f.Add("17")
	f.Add("17:turn+3=2&a%26b=1")

	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := controllertest.ParseSchedule(text)
		if err != nil {
			return
		}

		again, err := controllertest.ParseSchedule(parsed.String())
		require.NoError(t, err)
		assert.Equal(t, parsed, again)
	})
}
