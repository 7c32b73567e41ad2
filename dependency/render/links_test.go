package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/dependency/analysis/graphtest"
	"github.com/switchyard-run/switchyard/dependency/render"
)

func TestLinksThatCanBeFollowed(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		link  string
		taken bool
	}{
		{"controllers/A?x=1&y=2#z", true},
		{"/controllers/A", true},
		{"#A", true},
		{"?name=A", true},
		{"//other.example/A", true},
		{"https://other.example/A:b", true},
		{"HTTP://other.example", true},
		{"controllers/a%3Ab", true},
		{"", false},
		{"javascript:alert(1)", false},
		{"JavaScript:alert(1)", false},
		{" javascript:alert(1)", false},
		{"\x01javascript:alert(1)", false},
		{"java\nscript:alert(1)", false},
		{"java\tscript:alert(1)", false},
		{"data:text/html,x", false},
		{"vbscript:x", false},
		{"file:///etc/passwd", false},
		{"a:b", false},
		{"%zz", false},
		{"\xff", false},
		{"a\u202eb", false},
		{"a b", false},
	} {
		built := render.Build(graphtest.Sample(), render.WithLinks(func(render.Node) string { return test.link }))
		assert.True(t, built.Marked)

		for _, node := range built.Nodes {
			if test.taken {
				assert.Equal(t, test.link, node.Link)
			} else {
				assert.Empty(t, node.Link, "%q", test.link)
			}
		}
	}
}

func TestPicturesWithoutFrame(t *testing.T) {
	t.Parallel()

	for _, f := range render.Formats() {
		framed := text(t, f, graphtest.Sample(), render.WithTitle("Appliance"))
		bare := text(t, f, graphtest.Sample(), render.WithTitle("Appliance"), render.WithoutFrame())

		if f == render.FormatJSON {
			assert.Equal(t, framed, bare)

			continue
		}

		assert.Contains(t, framed, "Appliance\"")
		assert.NotContains(t, bare, "Appliance\"")
		assert.Contains(t, framed, "legend")
		assert.NotContains(t, bare, "legend")
	}
}
