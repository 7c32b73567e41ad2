package selector_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/cmd/swy/internal/selector"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string][]resource.LabelTerm{
		"app":                   {{Key: "app"}},
		" ! app ":               {{Key: "app", Invert: true}},
		"app=web":               {{Key: "app", Op: resource.LabelOpEqual, Value: []string{"web"}}},
		"app == web":            {{Key: "app", Op: resource.LabelOpEqual, Value: []string{"web"}}},
		"app=":                  {{Key: "app", Op: resource.LabelOpEqual, Value: []string{""}}},
		"app!=web":              {{Key: "app", Op: resource.LabelOpEqual, Value: []string{"web"}, Invert: true}},
		"app in (a, b)":         {{Key: "app", Op: resource.LabelOpIn, Value: []string{"a", "b"}}},
		"app notin (a)":         {{Key: "app", Op: resource.LabelOpIn, Value: []string{"a"}, Invert: true}},
		"size<10":               {{Key: "size", Op: resource.LabelOpLTNumeric, Value: []string{"10"}}},
		"size<=10GiB":           {{Key: "size", Op: resource.LabelOpLTENumeric, Value: []string{"10GiB"}}},
		"size>10":               {{Key: "size", Op: resource.LabelOpLTENumeric, Value: []string{"10"}, Invert: true}},
		"size>=-1":              {{Key: "size", Op: resource.LabelOpLTNumeric, Value: []string{"-1"}, Invert: true}},
		`size<"10"`:             {{Key: "size", Op: resource.LabelOpLT, Value: []string{"10"}}},
		"name<=m":               {{Key: "name", Op: resource.LabelOpLTE, Value: []string{"m"}}},
		`"a b,c"="\"=\n"`:       {{Key: "a b,c", Op: resource.LabelOpEqual, Value: []string{"\"=\n"}}},
		"in in (in)":            {{Key: "in", Op: resource.LabelOpIn, Value: []string{"in"}}},
		"needs.example.org/web": {{Key: "needs.example.org/web"}},
		"a,!b,c=d": {
			{Key: "a"}, {Key: "b", Invert: true}, {Key: "c", Op: resource.LabelOpEqual, Value: []string{"d"}},
		},
	} {
		query, err := selector.Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, query.Terms, text)
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"":            `at the end is missing the key of a label, at character 1 of ""`,
		"a,":          `at the end is missing the key of a label, at character 3 of "a,"`,
		"=b":          `here has to be the key of a label, at character 1 of "=b"`,
		"a b":         `here has to be a comma, or an operator: = != < <= > >= in notin, at character 3 of "a b"`,
		"a=b c":       `here has to be a comma, or an operator: = != < <= > >= in notin, at character 5 of "a=b c"`,
		"ä in a":      `here has to be values in parentheses, as (a, b), at character 6 of "ä in a"`,
		"a in ()":     `here has to be a value, at character 7 of "a in ()"`,
		"a in (b c)":  `here has to be a comma or a closing parenthesis, at character 9 of "a in (b c)"`,
		"a in (b":     `at the end is missing a comma or a closing parenthesis, at character 8 of "a in (b"`,
		`a="b`:        `the quotes that begin here have no end, or hold a bad escape, at character 3 of "a=\"b"`,
		"a<":          `at the end is missing what to compare with, at character 3 of "a<"`,
		`a "in" (b)`:  `here has to be a comma, or an operator: = != < <= > >= in notin, at character 3 of "a \"in\" (b)"`,
		"!a=b":        `here has to be a comma, or an operator: = != < <= > >= in notin, at character 3 of "!a=b"`,
		"a in (b) in": `here has to be a comma, or an operator: = != < <= > >= in notin, at character 10 of "a in (b) in"`,
	} {
		_, err := selector.Parse(text)

		var mistake *selector.Error

		require.ErrorAs(t, err, &mistake, text)
		assert.Equal(t, want, err.Error(), text)
	}
}

// FuzzParse sees that every text is either understood or refused with a place that is in it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a=b", "a in (b,c)", `"\xff"!="`, "é<1,!x"} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		query, err := selector.Parse(text)
		if err == nil {
			assert.NotEmpty(t, query.Terms)

			return
		}

		var mistake *selector.Error

		require.ErrorAs(t, err, &mistake)
		assert.LessOrEqual(t, mistake.At, len(text))
		assert.NotEmpty(t, err.Error())
	})
}
