package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.yaml.in/yaml/v4"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// mostDocuments is how many documents may come together.
const mostDocuments = 1000

// document is a resource as somebody wants it.
type document struct {
	number int
	res    resource.Resource
	// Which metadata is given: what is not stays as it is.
	version, labels, annotations bool
}

func (d *document) ref() api.Ref {
	md := d.res.Metadata()

	return api.Ref{Namespace: md.Namespace(), Type: md.Type(), ID: md.ID()}
}

// read reads all documents, and finds what is wrong with them: all of it, up to [mostFaults].
func read(text []byte) (all []*document, faults []Fault) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	first := map[api.Ref]int{}

	for number := 1; ; number++ {
		var node yaml.Node

		err := decoder.Decode(&node)

		switch {
		case errors.Is(err, io.EOF) && len(all)+len(faults) == 0:
			return nil, []Fault{{Document: 1, Message: "there is no document: send resources, each with metadata and spec"}}
		case errors.Is(err, io.EOF):
			return all, faults
		case err != nil:
			return all, append(faults, syntaxFault(number, err)) // nobody knows where the next one begins
		case number > mostDocuments:
			return all, append(faults, Fault{Document: number, Message: fmt.Sprintf("there are more than %d documents: send them in parts", mostDocuments)})
		case empty(&node):
			continue
		}

		r := reader{number: number}
		d := r.document(node.Content[0])

		if d != nil {
			if before, ok := first[d.ref()]; ok {
				r.fault(node.Content[0], "", fmt.Sprintf("%s is in document %d already", d.ref(), before))
			} else {
				first[d.ref()] = number
			}
		}

		faults = append(faults, r.faults...)

		if len(faults) > mostFaults {
			return nil, append(faults[:mostFaults:mostFaults], Fault{Document: number, Message: "there are more faults: mend these first"})
		}

		if len(r.faults) == 0 {
			all = append(all, d)
		}
	}
}

// empty tells a document that holds nothing but comments.
func empty(node *yaml.Node) bool {
	return len(node.Content) == 0 || node.Content[0].Kind == yaml.ScalarNode && node.Content[0].ShortTag() == "!!null"
}

var lineOf = regexp.MustCompile(`line (\d+)`)

// syntaxFault is a text that is no YAML.
func syntaxFault(number int, err error) Fault {
	fault := Fault{Document: number, Message: "this is no YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}

	if lines := lineOf.FindAllStringSubmatch(err.Error(), -1); len(lines) > 0 {
		fault.Line, _ = strconv.Atoi(lines[len(lines)-1][1]) // a number that is too large is not known
	}

	return fault
}
