package apply_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const hostileHead = "metadata: {type: " + widgetType + ", id: a}\nspec:\n  size: 1\n"

// numbered repeats a line with numbers in it.
func numbered(line string, n int) string {
	var b strings.Builder

	for i := range n {
		fmt.Fprintf(&b, line, i)
	}

	return b.String()
}

// A short text is answered in time that grows with its length, and with an answer that can be read, however much is wrong with it.
func TestHostileDocuments(t *testing.T) {
	for name, test := range map[string]struct {
		text, says string
	}{
		"a field again and again":        {hostileHead + strings.Repeat("  x: 1\n", 20_000), "is there twice, first in line 4"},
		"a merge again and again":        {hostileHead + strings.Repeat("  <<: {size: 1}\n", 20_000), "is there twice, first in line 4"},
		"fields that are not known":      {hostileHead + numbered("  x%d: 1\n", 20_000), "is not known"},
		"metadata that is not known":     {"metadata:\n" + numbered("  x%d: 1\n", 20_000) + "spec: {}", "is not known"},
		"items that can not be read":     {hostileHead + "  parts:\n" + strings.Repeat("  - {}\n", 20_000), "cannot construct !!map into string"},
		"aliases that can not be read":   {hostileHead + "  parts: [&a [x],\n" + strings.Repeat("*a ,", 20_000) + "]", "cannot construct !!seq into string"},
		"documents that can not be read": {strings.Repeat("--- {x: 1}\n", 900), "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			report := newWorld(t).send(test.text)

			require.Equal(t, http.StatusBadRequest, report.Status)
			require.Equal(t, "nothing was written: there are more than 100 faults in the documents", report.Error)
			require.Len(t, report.Faults, 101)
			require.Contains(t, report.String(), test.says)
			require.Equal(t, "there are more faults: mend these first", report.Faults[100].Message)
		})
	}

	for name, test := range map[string]struct {
		text, says string
	}{
		"labels": {
			"metadata: {type: " + widgetType + ", id: a, labels: {\n" + numbered("l%d: x,\n", 20_000) + "}}\nspec: {size: 1}",
			"metadata.labels: has more than 1000 texts",
		},
		"finalizers": {
			"metadata: {type: " + widgetType + ", id: a, finalizers: [\n" + numbered("f%d,\n", 20_000) + "]}\nspec: {size: 1}",
			"metadata.finalizers: has more than 1000 texts",
		},
		"a label twice": {
			"metadata: {type: " + widgetType + ", id: a, labels: {a: x, b: x, a: y}}\nspec: {size: 1}", "metadata.labels.a: is there twice, first in line 1",
		},
		"a field twice": {hostileHead + "  inner: {on: true, on: false}\n", "line 4, spec.inner.on: is there twice, first in line 4"},
		"a field twice within a list": {
			hostileHead + "  parts: [{a: 1, a: 2}]\n", "spec.parts[0].a: is there twice",
		},
		"an open list of lists": {hostileHead + "  parts: " + strings.Repeat("[", 900_000), "exceeded max depth"},
		"a list that holds itself": {
			"metadata: {type: " + widgetType + ", id: a}\nspec: &s {size: 1, <<: *s}", "anchor 's' value contains itself",
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := newWorld(t).send(test.text)

			require.Equal(t, http.StatusBadRequest, report.Status)
			require.LessOrEqual(t, len(report.Faults), 2)
			require.Contains(t, report.String(), test.says)
		})
	}
}
