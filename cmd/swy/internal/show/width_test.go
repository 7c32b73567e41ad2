package show_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/show"
)

// What is cut fits, whatever it is made of, and what fits is not cut.
func TestWidth(t *testing.T) {
	for text, columns := range map[string]int{
		"": 0, "web": 3, "größe": 5, "控制器": 6, "サービス": 8, "ｗｅｂ": 6, "ﾊﾝ": 2, "e\u0301": 1, "🚂": 2, "a\u200bb": 2,
	} {
		assert.Equal(t, columns, show.Width(text), text)

		for limit := 1; limit < 10; limit++ {
			cut := show.Cut(text, limit)
			assert.LessOrEqual(t, show.Width(cut), limit, "%q", cut)

			if columns <= limit {
				assert.Equal(t, text, cut)
			}
		}
	}

	assert.Equal(t, "控…", show.Cut("控制器", 4))
}

// Columns stand below each other where names are wide.
func TestColumnsOfWideNames(t *testing.T) {
	var out bytes.Buffer

	require.NoError(t, new(show.Table).Write(&out, [][]string{{"NAME", "STATE"}, {"控制器", "a"}, {"e\u0301", "b"}}))
	assert.Equal(t, "NAME     STATE\n控制器   a\ne\u0301        b\n", out.String())
}
