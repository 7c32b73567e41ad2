package document

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"text/template"
	"text/template/parse"

	"go.yaml.in/yaml/v4"
)

// renderLimit bounds what one template may produce, in bytes.
const renderLimit = 1 << 20

var errTooLong = errors.New("the result is longer than 1 MiB")

// Render fills in a template. Errors carry the line within the template where the template package tells it.
//
// A template without loops, variables and templates of its own ends soon and stays small, whatever it says. What it may
// speak of has no lists, so nobody misses them.
func Render(text string, facts Facts) ([]byte, error) {
	t, err := template.New("template").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, err
	}

	if t.Tree != nil {
		if node := refused(t.Root); node != nil {
			place, _ := t.ErrorContext(node)

			return nil, fmt.Errorf("template: %s: there are no loops, variables and nested templates here", place)
		}
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

// refused returns the first loop, variable or nested template below a node, or nil if there is none.
func refused(node parse.Node) parse.Node {
	switch node := node.(type) {
	case *parse.RangeNode, *parse.TemplateNode:
		return node
	case *parse.ActionNode:
		return refused(node.Pipe)
	case *parse.IfNode:
		return refusedBranch(&node.BranchNode)
	case *parse.WithNode:
		return refusedBranch(&node.BranchNode)
	case *parse.ListNode:
		return firstRefused(node.Nodes)
	case *parse.PipeNode:
		if len(node.Decl) > 0 {
			return node
		}

		return firstRefused(node.Cmds)
	case *parse.CommandNode:
		return firstRefused(node.Args)
	case *parse.ChainNode:
		return refused(node.Node)
	default:
		return nil
	}
}

func refusedBranch(branch *parse.BranchNode) parse.Node {
	parts := []parse.Node{branch.Pipe, branch.List}

	if branch.ElseList != nil {
		parts = append(parts, branch.ElseList)
	}

	return firstRefused(parts)
}

func firstRefused[N parse.Node](nodes []N) parse.Node {
	for _, node := range nodes {
		if at := refused(node); at != nil {
			return at
		}
	}

	return nil
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
