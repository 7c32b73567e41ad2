package document_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
)

func ExampleParse() {
	m, err := document.Parse([]byte(`
hostname: box
services:
  - name: web
    command: [httpd, -l, $ADDR]
    port: auto
`))

	fmt.Println(m.Hostname, m.Services[0].Kind, m.Services[0].Stop, err)

	_, err = document.Parse([]byte(`
hostname: box
services:
  - name: web
    command: [httpd, -l, $ADDRESS]
    needs: [database]
    port: http
`))

	fmt.Println(err)
	// Output:
	// box daemon 5s <nil>
	// 5:26: services[0].command[2]: $ADDRESS is not set for this service; set are SELF, ROOT, NAME and what its env says (write $$ for a dollar sign)
	// 6:13: services[0].needs[0]: there is no service "database"
	// 7:11: services[0].port: "http" is no port; write auto or a number from 1 to 65535
}

func sample(t require.TestingT) string {
	text, err := os.ReadFile("../../machine.yaml")
	require.NoError(t, err)

	return string(text)
}

func TestTheSampleIsGood(t *testing.T) {
	m, err := document.Parse([]byte(sample(t)))
	require.NoError(t, err)

	assert.Equal(t, "lighthouse", m.Hostname)
	assert.Equal(t, []document.Host{
		{Address: "192.0.2.10", Names: []string{"printer", "printer.example.net"}},
		{Address: "2001:db8::20", Names: []string{"archive"}},
	}, m.Hosts)
	assert.Equal(t, uint32(0o600), m.Files[1].Mode)
	assert.Equal(t, uint32(0o644), m.Files[0].Mode)

	require.Len(t, m.Services, 4)
	assert.Equal(t, document.Service{
		Name:    "web",
		Kind:    document.Daemon,
		Command: []string{"$SELF", "service", "web"},
		Env:     map[string]string{"GREETING": "good evening"},
		Needs:   []string{"prepare"},
		Port:    document.PortAuto,
		Health: document.Health{
			Path: "/healthz", Interval: 2 * time.Second, Timeout: time.Second, Failures: 3, Grace: 10 * time.Second,
		},
		Restart: document.Restart{Delay: 250 * time.Millisecond, Max: 10 * time.Second},
		Stop:    3 * time.Second,
	}, m.Services[1])
}

func TestWhatIsLeftOut(t *testing.T) {
	m, err := document.Parse([]byte("hostname: box\ndomain:\nhosts:\nmotd: ''\nfiles: []\nservices: # nothing yet\n"))
	require.NoError(t, err)

	assert.Equal(t, document.Machine{Hostname: "box"}, m)
}

func TestModesAreOctal(t *testing.T) {
	for _, written := range []string{"0640", "640", `"0640"`, "0o640"} {
		m, err := document.Parse([]byte("hostname: box\nfiles: [{path: a, content: b, mode: " + written + "}]\n"))
		require.NoError(t, err, written)

		assert.Equal(t, uint32(0o640), m.Files[0].Mode, written)
	}
}

func TestAnAliasStandsForItsAnchor(t *testing.T) {
	m, err := document.Parse([]byte(`
hostname: box
services:
  - {name: a, command: &sleep [sleep, '9'], restart: &often {delay: 1s}}
  - {name: b, command: *sleep, restart: *often}
`))
	require.NoError(t, err)

	assert.Equal(t, m.Services[0].Command, m.Services[1].Command)
	assert.Equal(t, time.Second, m.Services[1].Restart.Delay)
}

// TestAllProblemsAtOnce holds one problem a line, to show that none hides another and that they come in order.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := document.Parse([]byte(strings.TrimPrefix(`
hostname: Box
domain: [example.net]
colour: red
hosts:
  - {address: 192.0.2.300, names: [a]}
  - {address: 192.0.2.3, names: []}
  - {address: 192.0.2.3}
resolver: {servers: [localhost], search: [a_b]}
timeServers: {a: b}
motd: |
  hello {{ .Hostname }}
  {{ if }}
files:
  - {path: ../x, content: x}
  - {path: a/./b, content: x}
  - {path: a, content: x}
  - {path: a/b, content: x, mode: "1777"}
  - {path: var/log, content: x, mode: 0200}
  - {path: c, content: "{{ .Nothing }}"}
  - nothing
services:
  - {name: a, command: [], kind: 7}
  - {name: a, command: [b], needs: [a, x, y, x], port: 0}
  - {name: c, command: [$PORT, $$HOME], health: {path: x, failures: 0, interval: 1ms}}
  - {name: d, command: [x], needs: [e], restart: {delay: 9s, max: 1s}}
  - {name: e, command: [x], needs: [d], env: {1A: x, PORT: 1, A: [x]}}
  - {name: f, kind: oneshot, command: [x], port: auto, health: {path: /}, stop: never}
`, "\n")))
	require.Error(t, err)

	var places []string

	for line := range strings.Lines(err.Error()) {
		place, rest, _ := strings.Cut(line, ": ")
		line, _, _ := strings.Cut(place, ":")
		field, _, _ := strings.Cut(rest, ": ")

		places = append(places, line+" "+field)
	}

	assert.Equal(t, []string{
		"1 hostname", "2 domain", "3 colour",
		"5 hosts[0].address", "6 hosts[1].names", "7 hosts[2].names",
		"8 resolver.servers[0]", "8 resolver.search[0]", "9 timeServers", "12 motd",
		"14 files[0].path", "15 files[1].path", "17 files[3].path", "17 files[3].mode",
		"18 files[4].path", "18 files[4].mode", "19 files[5].content", "20 files[6]",
		"22 services[0].command", "22 services[0].kind",
		"23 services[1].name", "23 services[1].needs[0]", "23 services[1].needs[1]", "23 services[1].needs[2]",
		"23 services[1].needs[3]", "23 services[1].port",
		"24 services[2].command[0]", "24 services[2].health", "24 services[2].health.path",
		"24 services[2].health.failures", "24 services[2].health.interval",
		"25 services[3].restart", "26 services[4].needs[0]", "26 services[4].env.1A", "26 services[4].env.PORT", "26 services[4].env.A",
		"27 services[5].health", "27 services[5].stop",
	}, places, "%s", err)
}

// TestProblemsSayWhatIsMeant holds slips that are easily made, each with all that there is to say about it.
func TestProblemsSayWhatIsMeant(t *testing.T) {
	for line, want := range map[string]string{
		"files: {}":  "2:8: files: must be a list, not a group of fields",
		"motd: 12":   "2:7: motd: must be a text, not a number; if it is meant, put it in quotes",
		"motd: !x 1": "2:7: motd: must be a text, not a value with the tag !x",
		"services: [{name: a, command: sleep 9}]":         "2:31: services[0].command: must be a list, not a text",
		"services: [{name: a, command: []}]":              "2:31: services[0].command: must begin with a program",
		"services: [{name: a, command: [x], needs: b}]":   "2:43: services[0].needs: must be a list, not a text",
		"services: [{name: a, command: [x], env: [A=1]}]": "2:41: services[0].env: must be variables and their values (NAME: value), not a list",
		`services: [{name: a, command: ["x\0"], env: {A: "\0"}}]`: "2:32: services[0].command[0]: \"x\\x00\" holds a zero byte, where the system ends a text\n" +
			"2:49: services[0].env.A: \"\\x00\" holds a zero byte, where the system ends a text",
		`services: [{name: a, command: [x], port: 1, health: {path: "/%zz"}}]`: "2:60: services[0].health.path: \"/%zz\" is no path of an HTTP request; " +
			"begin with a slash, and write other characters as %XX",
		"files: [{path: " + strings.Repeat("a", 241) + ", content: x}]": "2:16: files[0].path: is too long; at most 1000 bytes, and 240 from slash to slash",
	} {
		_, err := document.Parse([]byte("hostname: box\n" + line + "\n"))
		assert.EqualError(t, err, want)
	}
}

func TestSyntaxProblemsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"hostname: a: b\n":               "1:12: the text is not valid YAML: mapping values are not allowed in this context",
		"hostname: a\n\tdomain: b\n":     "2: the text is not valid YAML: found a tab character that violates indentation",
		"hostname: a\nhosts: {\n":        "2: the text is not valid YAML: did not find expected node content",
		"hostname: a\ndomain: *b\n":      "2:9: the text is not valid YAML: unknown anchor 'b' referenced",
		"hostname: a\nmotd: \"\x01\"\n":  "2: the text is not valid YAML: control characters are not allowed",
		"hostname: a\n---\nhostname: b":  "2: a second document begins here; there may be only one",
		"# nothing\n":                    "the document is empty",
		strings.Repeat("# a\n", 300_000): "the document is longer than 1 MiB",
	} {
		_, err := document.Parse([]byte(text))
		require.Error(t, err)
		assert.Equal(t, want, err.Error())
	}
}

// TestAnyText changes the sample at random: whatever comes of it is read without a panic, and problems are in order
// and inside the text.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.SplitAfter(sample(t), "\n")

		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")

			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, lines[rapid.IntRange(0, len(lines)-1).Draw(t, "other")])
			case 2:
				lines[i] = strings.Replace(lines[i], rapid.StringMatching(`[a-z:\[\]{},$ ]`).Draw(t, "old"),
					rapid.String().Draw(t, "new"), 1)
			case 3:
				lines[i] = "  " + lines[i]
			}
		}

		text := strings.Join(lines, "")

		_, err := document.Parse([]byte(text))
		if err == nil {
			return
		}

		refused := (*document.Error)(nil)
		require.ErrorAs(t, err, &refused)
		require.NotEmpty(t, refused.Problems)

		count := strings.Count(text, "\n") + 1

		require.True(t, slices.IsSortedFunc(refused.Problems, func(a, b document.Problem) int { return a.Line - b.Line }))

		for _, p := range refused.Problems {
			require.NotEmpty(t, p.Message)
			require.LessOrEqual(t, p.Line, count, "%s", p)
		}
	})
}

func TestServicesInOrder(t *testing.T) {
	m, err := document.Parse([]byte(`
hostname: box
services:
  - {name: a, command: [x], needs: [c, b]}
  - {name: b, command: [x], needs: [d]}
  - {name: c, command: [x], needs: [b]}
  - {name: d, command: [x]}
  - {name: e, command: [x]}
`))
	require.NoError(t, err)

	var names []string

	for _, s := range m.InOrder() {
		names = append(names, s.Name)
	}

	assert.Equal(t, []string{"d", "b", "c", "a", "e"}, names)
}

func TestRender(t *testing.T) {
	facts := document.Facts{Hostname: "box", CPUs: 2}

	text, err := document.Render("{{ .Hostname }} has {{ .CPUs }}", facts)
	require.NoError(t, err)
	assert.Equal(t, "box has 2", string(text))

	_, err = document.Render(strings.Repeat(`{{ printf "%600000d" .CPUs }}`, 2), facts)
	assert.ErrorContains(t, err, "longer than 1 MiB")
}

// TestTemplatesEnd holds what could run for ever, or grow without end.
func TestTemplatesEnd(t *testing.T) {
	for _, text := range []string{
		"{{ range 1000000000000 }}{{ end }}",
		"{{ if .CPUs }}{{ else if .CPUs }}{{ else }}{{ range 9 }}{{ end }}{{ end }}",
		"{{ with .OS }}{{ template `a` }}{{ end }}",
		"{{ block `a` . }}{{ end }}",
		"{{ $x := .OS }}",
		"{{ if $x := .OS }}{{ end }}",
		"{{ (print ($x := .OS)).Y }}",
	} {
		_, err := document.Render(text, document.Facts{OS: "linux", CPUs: 2})
		assert.ErrorContains(t, err, "there are no loops, variables and nested templates here", text)
	}

	text, err := document.Render("{{ if gt .CPUs 1 }}{{ with .OS }}{{ . }}{{ end }}{{ else }}one{{ end }}", document.Facts{OS: "linux", CPUs: 2})
	require.NoError(t, err)
	assert.Equal(t, "linux", string(text))
}

// TestAliasesStayAffordable has a short text that stands for a hundred million words, and one that stands for itself.
func TestAliasesStayAffordable(t *testing.T) {
	var b strings.Builder

	fmt.Fprintf(&b, "hostname: box\nservices:\n  - {name: a, command: &words [%s]}\n", strings.Repeat("x, ", 30_000))

	for i := range 3000 {
		fmt.Fprintf(&b, "  - {name: a%d, command: *words}\n", i)
	}

	_, err := document.Parse([]byte(b.String()))
	assert.ErrorContains(t, err, "aliases repeat more than 100000 values")

	_, err = document.Parse([]byte("hostname: box\nservices: &all [*all]\n"))
	assert.EqualError(t, err, "2:11: aliases repeat more than 100000 values")
}

func TestExpand(t *testing.T) {
	lookup := func(name string) string { return "<" + name + ">" }

	for word, want := range map[string]string{
		"$A-${B}":  "<A>-<B>",
		"$$A":      "$A",
		"a$":       "a$",
		"$A$$B$$$": "<A>$B$$",
	} {
		assert.Equal(t, want, document.Expand(word, lookup), word)
	}

	assert.Equal(t, "WEB_UI_ADDR", document.AddressVariable("web-ui"))
}

func TestRevisionFollowsTheContent(t *testing.T) {
	m, err := document.Parse([]byte(sample(t)))
	require.NoError(t, err)

	web := m.Services[1]
	same := web.DeepCopy()

	assert.Equal(t, web.Revision(), same.Revision())

	same.Env["GREETING"] = "good night"

	assert.NotEqual(t, web.Revision(), same.Revision())
	assert.Equal(t, "good evening", web.Env["GREETING"], "a copy shares no memory")
}
