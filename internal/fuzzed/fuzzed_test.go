package fuzzed_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/internal/fuzzed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheSameBytesMakeTheSameChoices(t *testing.T) {
	t.Parallel()

	data := make([]byte, 1<<10)
	for i := range data {
		data[i] = byte(i * 167)
	}

	one, other := fuzzed.From(data), fuzzed.From(data)

	for one.More() {
		assert.Equal(t, one.Pick(7), other.Pick(7))
		assert.Equal(t, one.Text(), other.Text())
		assert.Equal(t, one.Texts(4), other.Texts(4))
	}

	assert.False(t, other.More())
}

// A run over few bytes comes to an end like any other, with the first of all choices.
func TestChoicesAfterTheEnd(t *testing.T) {
	t.Parallel()

	b := fuzzed.From(nil)

	assert.False(t, b.More())
	assert.Zero(t, b.Pick(3))
	assert.True(t, b.Often(3))
	assert.Equal(t, fuzzed.Odd()[0], b.Text())
	assert.Equal(t, []string{fuzzed.Odd()[0]}, b.Texts(3))
	assert.Equal(t, "first", fuzzed.One(b, []string{"first", "second"}))
}

func TestTexts(t *testing.T) {
	t.Parallel()

	long := fuzzed.From([]byte{253, 2, 'y', 'z'}).Text()
	assert.Len(t, long, fuzzed.Long+2)

	huge := fuzzed.From([]byte{255, 0}).Text()
	assert.Len(t, huge, fuzzed.Huge)

	many := fuzzed.From(bytes.Repeat([]byte{255}, 1<<10))
	length := 0

	for many.More() {
		length += len(many.Text())
	}

	assert.Less(t, length, 4*fuzzed.Huge, "a run has room for them")

	b := fuzzed.From([]byte{192, 1, '-', 0, 240, 0, 1, '+'})
	assert.Equal(t, "-", b.Text(), "as it is")
	assert.Equal(t, "-", b.Text(), "again")
	assert.Equal(t, "-+", b.Text(), "and more")
}
