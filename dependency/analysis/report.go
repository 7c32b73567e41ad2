package analysis

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Severity says how much attention a finding asks for.
type Severity string

const (
	// Note is for what is right in many systems and worth knowing: the other side may be outside the graph.
	Note Severity = "note"
	// Warning is for what can keep the system from coming to rest.
	Warning Severity = "warning"
)

// Finding is one thing found in a graph: a [Loop], an [Unproduced] input or an [Unread] output.
type Finding interface {
	// Severity says how much attention the finding asks for.
	Severity() Severity
	// String is the finding as one readable sentence of one line, whatever the names contain. Long lists and long
	// names are shortened in it.
	fmt.Stringer
}

// Report is everything found in one graph. The zero value is a report without findings. The JSON form of a report is
// part of the graph's JSON document.
type Report struct {
	// Loops has one entry for each group of controllers that feed each other, ordered by the names in it.
	Loops []Loop `json:"loops,omitempty"`
	// Unproduced has one entry for each namespace and type that is read and not written, ordered by both.
	Unproduced []Unproduced `json:"unproduced,omitempty"`
	// Unread has one entry for each type that is written and not read, ordered by type.
	Unread []Unread `json:"unread,omitempty"`
}

// Findings returns all findings: loops, then inputs that nothing produces, then outputs that nothing reads.
func (r Report) Findings() []Finding {
	all := make([]Finding, 0, len(r.Loops)+len(r.Unproduced)+len(r.Unread))

	for _, f := range r.Loops {
		all = append(all, f)
	}

	for _, f := range r.Unproduced {
		all = append(all, f)
	}

	for _, f := range r.Unread {
		all = append(all, f)
	}

	return all
}

// String lists the findings, one a line, each after its severity; it is empty where nothing was found.
func (r Report) String() string {
	var b strings.Builder

	for _, f := range r.Findings() {
		fmt.Fprintf(&b, "%s: %s\n", f.Severity(), f)
	}

	return b.String()
}

// Loop is a group of controllers each of which can, by what is declared, cause each other to run, and itself. Such a
// group comes to rest only if some controller in it stops writing when nothing changes.
type Loop struct {
	// Controllers are all members of the group, sorted by name. It has at least one: a controller may feed itself.
	Controllers []string `json:"controllers"`
	// Cycle is a shortest way round: each step's controller writes a type that the next step's controller reads, the
	// last one's is read by the first. In a group with some thousands of edges it is a shortest way through one of
	// the first members, which may not be the shortest of all.
	Cycle []Step `json:"cycle"`
}

// Step is one controller of a cycle and what it passes on.
type Step struct {
	// Controller is the name of the controller that writes.
	Controller string `json:"controller"`
	// Namespace is where the next controller reads.
	Namespace string `json:"namespace"`
	// Type is the resource type that this controller writes and the next one reads.
	Type string `json:"type"`
}

// Severity is [Warning].
func (Loop) Severity() Severity { return Warning }

// String tells how many controllers there are, and the way round.
func (l Loop) String() string {
	if len(l.Controllers) == 1 {
		return "a controller feeds itself: " + l.Way()
	}

	return fmt.Sprintf("%d controllers feed each other: %s", len(l.Controllers), l.Way())
}

// Way tells the cycle as "A -> Type -> B -> Type -> A", in one line, whatever the names contain. Of a long one the beginning is told.
func (l Loop) Way() string {
	const shown = 8

	var b strings.Builder

	for i, step := range l.Cycle {
		if i == shown {
			fmt.Fprintf(&b, "(%d more) -> ", len(l.Cycle)-shown)

			break
		}

		fmt.Fprintf(&b, "%s -> %s -> ", readable(step.Controller), readable(step.Type))
	}

	if len(l.Cycle) > 0 {
		b.WriteString(readable(l.Cycle[0].Controller))
	}

	return b.String()
}

// Unproduced is an input of a type that no controller has as an output. Resources that the host, a user or another
// process writes look like this too.
type Unproduced struct {
	// Namespace is the namespace of the input.
	Namespace string `json:"namespace"`
	// Type is the resource type of the input.
	Type string `json:"type"`
	// Readers are the controllers that have the input, sorted by name, at least one.
	Readers []string `json:"readers"`
}

// Severity is [Note].
func (Unproduced) Severity() Severity { return Note }

// String tells what is read and by whom.
func (u Unproduced) String() string {
	return fmt.Sprintf("no controller writes %s, which %s in namespace %s; it has to come from outside",
		readable(u.Type), subject(u.Readers, "reads", "read"), readable(u.Namespace))
}

// Unread is an output of a type that no controller has as an input. Results that only people or other processes look
// at look like this too.
type Unread struct {
	// Type is the resource type of the output.
	Type string `json:"type"`
	// Writers are the controllers that have the output, sorted by name, at least one.
	Writers []string `json:"writers"`
}

// Severity is [Note].
func (Unread) Severity() Severity { return Note }

// String tells what is written and by whom.
func (u Unread) String() string {
	return fmt.Sprintf("no controller reads %s, which %s; it is a result, or left over",
		readable(u.Type), subject(u.Writers, "writes", "write"))
}

// subject joins names and the verb form that fits them, naming three at most.
func subject(names []string, one, many string) string {
	quoted := make([]string, 0, 3)

	for _, name := range names[:min(len(names), 3)] {
		quoted = append(quoted, readable(name))
	}

	switch n := len(names); n {
	case 0:
		return "nobody " + one
	case 1:
		return quoted[0] + " " + one
	case 2, 3:
		return strings.Join(quoted[:n-1], ", ") + " and " + quoted[n-1] + " " + many
	default:
		return fmt.Sprintf("%s, %s and %d more %s", quoted[0], quoted[1], n-2, many)
	}
}

// readable returns a name as it is where it reads as one word, and quoted otherwise; over 80 runes it is cut.
func readable(name string) string {
	const limit = 80

	if runes := []rune(name); len(runes) > limit {
		name = string(runes[:limit-1]) + "…"
	}

	odd := func(r rune) bool {
		return !unicode.IsPrint(r) || unicode.IsSpace(r) || r == unicode.ReplacementChar || strings.ContainsRune(`"\,;>`, r)
	}

	if name == "" || strings.ContainsFunc(name, odd) {
		return strconv.Quote(name)
	}

	return name
}
