package cache

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBeginnings(t *testing.T) {
	t.Parallel()

	for expression, want := range map[string][]span{
		"^prefix-":          {{"prefix-", "prefix."}},
		"^(a|b)-":           {{"a-", "a."}, {"b-", "b."}},
		"^exact$":           {{"exact", "exact\x00"}},
		`\Aexact\z`:         {{"exact", "exact\x00"}},
		"^(?:x|y|long)$":    {{"long", "long\x00"}, {"x", "x\x00"}, {"y", "y\x00"}},
		"^ab?c":             {{"abc", "abd"}, {"ac", "ad"}},
		"^ab*c":             {{"a", "b"}},
		"^ab+c":             {{"ab", "ac"}},
		"^(ab){2}":          {{"ab", "ac"}},
		"^[a-c]1":           {{"a1", "a2"}, {"b1", "b2"}, {"c1", "c2"}},
		"^a.c":              {{"a", "b"}},
		"^(a|ab|b)":         {{"a", "b"}, {"b", "c"}},
		"^a|^b":             {{"a", "b"}, {"b", "c"}},
		"^x-(?i)Y":          {{"x-", "x."}},
		"^\U0010ffff":       {{"\U0010ffff", "\xf4\x8f\xbf\xc0"}},
		"^a\ufffdb":         {{"a", "b"}},
		"^":                 {{}},
		"a":                 nil,
		"a|^b":              nil,
		"(?m)^a":            nil,
		"(?i)^a":            {{}},
		"^*a":               nil,
		"(^a)?b":            nil,
		"^[a-z][a-z][a-z]x": nil, // too many

		// Of a long one the first part is looked at.
		"^" + strings.Repeat("x", longest) + "$":          {{strings.Repeat("x", longest), strings.Repeat("x", longest) + "\x00"}},
		"^" + strings.Repeat("x", longest+1) + "$":        {{strings.Repeat("x", longest), strings.Repeat("x", longest-1) + "y"}},
		"^(" + strings.Repeat("x", longest) + ")(ab|ac)$": {{strings.Repeat("x", longest), strings.Repeat("x", longest-1) + "y"}},
		"^" + strings.Repeat("x", 1<<20) + "(a|b)":        {{strings.Repeat("x", longest), strings.Repeat("x", longest-1) + "y"}},
	} {
		spans, ok := beginnings(regexp.MustCompile(expression))
		require.Equal(t, want != nil, ok, expression)
		require.Equal(t, want, spans, expression)
	}
}

func TestBeginningIsTheRangeOfAPrefix(t *testing.T) {
	t.Parallel()

	require.Equal(t, span{}, beginning(""))
	require.Equal(t, span{"a", "b"}, beginning("a"))
	require.Equal(t, span{"a\xff\xff", "b"}, beginning("a\xff\xff"))
	require.Equal(t, span{from: "\xff"}, beginning("\xff"))
}

// Whatever an expression matches is in its ranges, which are in order and apart.
func FuzzBeginnings(f *testing.F) {
	for _, expression := range []string{
		"^a", "^(a|b)-", "^a$", "^[a-c]{1,2}x?", "(?i)^a", "^(?:a+?|b*)c", "^x+?", "^x{2}?", "^(^a|b)", "^a$b", "^\\pL", "^[^a]", "$^", "^(ab|a)(b|)c",
	} {
		for _, text := range []string{"", "a", "b-", "xx", "abc", "\xff", "K", "\u212a", "é"} {
			f.Add(expression, text)
		}
	}

	f.Fuzz(func(t *testing.T, expression, text string) {
		if strings.Contains(text, "\n") {
			return
		}

		for _, compile := range []func(string) (*regexp.Regexp, error){regexp.Compile, regexp.CompilePOSIX} {
			re, err := compile(expression)
			if err != nil {
				continue
			}

			spans, ok := beginnings(re)
			if !ok {
				continue
			}

			found := false

			for i, s := range spans {
				found = found || text >= s.from && s.holds(text)

				if i > 0 {
					require.NotEmpty(t, spans[i-1].to)
					require.LessOrEqual(t, spans[i-1].to, s.from)
				}
			}

			if re.MatchString(text) {
				require.True(t, found, "%q matches %q, which is not in %q", expression, text, spans)
			}
		}
	})
}
