package document

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"text/template"

	"go.yaml.in/yaml/v4"
)

// Facts is what templates may speak of.
type Facts struct {
	// Hostname is the short name of the machine.
	Hostname string `yaml:"hostname" protobuf:"1"`
	// FQDN is the hostname completed with the domain, or the hostname where there is no domain.
	FQDN string `yaml:"fqdn" protobuf:"2"`
	// OS is the operating system, as Go calls it: linux, darwin and so on.
	OS string `yaml:"os" protobuf:"3"`
	// Arch is the processor architecture, as Go calls it: amd64, arm64 and so on.
	Arch string `yaml:"arch" protobuf:"4"`
	// CPUs is the number of processors the control plane may use.
	CPUs int `yaml:"cpus" protobuf:"5"`
	// Kernel is the release of the kernel, or empty where it cannot be told.
	Kernel string `yaml:"kernel" protobuf:"6"`
	// MemoryMiB is the size of the main memory, or 0 where it cannot be told.
	MemoryMiB int `yaml:"memoryMiB" protobuf:"7"`
}

// renderLimit bounds what one template may produce, in bytes.
const renderLimit = 1 << 20

var errTooLong = errors.New("the result is longer than 1 MiB")

// Render fills in a template. Errors carry the line within the template where the template package tells it.
func Render(text string, facts Facts) ([]byte, error) {
	t, err := template.New("template").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}

	var out limited

	if err := t.Execute(&out, facts); err != nil {
		if errors.Is(err, errTooLong) {
			return nil, errTooLong
		}

		return nil, err
	}

	return out.buf.Bytes(), nil
}

type limited struct{ buf bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if l.buf.Len()+len(p) > renderLimit {
		return 0, errTooLong
	}

	return l.buf.Write(p)
}

// templatePlace matches how the template package begins its messages.
var templatePlace = regexp.MustCompile(`^template: template:(\d+)(?::\d+)?: (?:executing "template" at )?`)

// checkTemplate renders a template over made-up facts, so that a field that does not exist is found when the
// document is read and not when the file is written.
func checkTemplate(v value, text string) {
	_, err := Render(text, Facts{Hostname: "host", FQDN: "host.example.net", OS: "linux", Arch: "amd64", CPUs: 1})
	if err == nil {
		return
	}

	message := err.Error()
	place := templatePlace.FindStringSubmatch(message)

	if place == nil {
		v.refuse("the template cannot be rendered: %s", message)

		return
	}

	message = message[len(place[0]):]

	line, err := strconv.Atoi(place[1])
	if err == nil && v.node.Style&yaml.LiteralStyle != 0 {
		// The lines of a literal block follow the line of the field one by one.
		v.refuseAt(line, "the template cannot be rendered: %s", message)

		return
	}

	v.refuse("the template cannot be rendered: in its line %d: %s", line, message)
}
