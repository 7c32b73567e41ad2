package document

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Parse reads a document. The error is an [*Error] that holds all problems of the document; the machine is the zero
// value then.
func Parse(text []byte) (Machine, error) {
	var (
		r reader
		m Machine
	)

	if root, ok := r.syntax(text); ok {
		m = readMachine(root)
	}

	if len(r.problems) > 0 {
		sortProblems(r.problems)

		return Machine{}, &Error{Problems: r.problems}
	}

	return m, nil
}

func readMachine(root value) Machine {
	var m Machine

	o, ok := root.object("hostname", "domain", "hosts", "resolver", "timeServers", "motd", "files", "services")
	if !ok {
		return m
	}

	if v, ok := o.required("hostname"); ok {
		if text, ok := v.text(); ok && checkLabel(v, text) {
			m.Hostname = text
		}
	}

	if v := o.field("domain"); v.given() {
		if text, ok := v.text(); ok && checkDomain(v, text) {
			m.Domain = text
		}
	}

	m.Hosts = readHosts(o.field("hosts"))
	m.Resolver = readResolver(o.field("resolver"))
	m.TimeServers = texts(o.field("timeServers").list(), checkHost)

	if v := o.field("motd"); v.given() {
		if text, ok := v.text(); ok {
			checkTemplate(v, text)
			m.MOTD = text
		}
	}

	m.Files = readFiles(o.field("files"))
	m.Services = readServices(o.field("services"))

	return m
}

func readHosts(list value) []Host {
	var hosts []Host

	seen := make(map[string]value)

	for _, item := range list.list() {
		o, ok := item.object("address", "names")
		if !ok {
			continue
		}

		var h Host

		if v, ok := o.required("address"); ok {
			if text, ok := v.text(); ok && checkAddress(v, text) {
				h.Address = text
			}
		}

		if v, ok := o.required("names"); ok {
			if v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 0 {
				v.refuse("holds no name")
			}

			h.Names = texts(v.list(), func(v value, name string) bool {
				return checkDomain(v, name) && unique(seen, v, name)
			})
		}

		hosts = append(hosts, h)
	}

	return hosts
}

func readResolver(v value) Resolver {
	if !v.given() {
		return Resolver{}
	}

	o, ok := v.object("servers", "search")
	if !ok {
		return Resolver{}
	}

	return Resolver{
		Servers: texts(o.field("servers").list(), checkAddress),
		Search:  texts(o.field("search").list(), checkDomain),
	}
}

// reserved are the files the control plane writes itself, and the directories it keeps its own things in.
var reserved = []string{
	PathHostname, PathHosts, PathResolver, PathTimeServers, PathMOTD, PathDocument, DirLogs, DirRun, DirState,
}

// The places under the root that the control plane uses itself.
const (
	PathHostname    = "etc/hostname"
	PathHosts       = "etc/hosts"
	PathResolver    = "etc/resolv.conf"
	PathTimeServers = "etc/ntp.conf"
	PathMOTD        = "etc/motd"
	PathDocument    = "machine.yaml"

	DirLogs  = "var/log/services"
	DirRun   = "run/appliance"
	DirState = "var/lib/appliance"
)

func readFiles(list value) []File {
	var files []File

	seen := make(map[string]value)

	for _, item := range list.list() {
		o, ok := item.object("path", "mode", "content")
		if !ok {
			continue
		}

		f := File{Mode: 0o644}

		if v, ok := o.required("path"); ok {
			if text, ok := v.text(); ok && checkPath(v, text) && checkOverlap(seen, v, text) {
				f.Path = text
			}
		}

		if v := o.field("mode"); v.given() {
			f.Mode = readMode(v, f.Mode)
		}

		if v, ok := o.required("content"); ok {
			if text, ok := v.text(); ok {
				checkTemplate(v, text)
				f.Content = text
			}
		}

		files = append(files, f)
	}

	return files
}

// readMode takes the digits as octal with or without quotes, as everybody who writes a mode means them.
func readMode(v value, fallback uint32) uint32 {
	text, ok := v.scalar("permission bits such as 0644")
	if !ok {
		return fallback
	}

	mode, err := strconv.ParseUint(strings.TrimPrefix(text, "0o"), 8, 32)
	if err != nil || mode > 0o777 {
		v.refuse("%q are no permission bits; write octal digits from 0000 to 0777, such as 0644", text)

		return fallback
	}

	if mode&0o400 == 0 {
		v.refuse("%q does not let the owner read the file; the control plane has to", text)

		return fallback
	}

	return uint32(mode)
}

// unique reports a text that was seen before; it returns whether the text is new.
func unique(seen map[string]value, v value, text string) bool {
	if first, twice := seen[text]; twice {
		v.refuse("%q is already given in line %d", text, first.node.Line)

		return false
	}

	seen[text] = v

	return true
}

// How long paths may be, in bytes: a little less than systems take, to leave room for the root above and for the names
// of files that are being written.
const (
	pathLimit = 1000
	nameLimit = 240
)

// checkPath accepts paths that stay below the root and do not meet what the control plane writes itself.
func checkPath(v value, text string) bool {
	switch {
	case text == "":
		v.refuse("is empty")
	case path.IsAbs(text):
		v.refuse("%q begins with a slash; paths are relative to the root of the machine", text)
	case slices.Contains(strings.Split(text, "/"), ".."):
		v.refuse("%q may leave the root of the machine; write it without \"..\"", text)
	case path.Clean(text) != text || text == ".":
		v.refuse("%q is not written plainly; write %q", text, path.Clean(text))
	case strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, `\`):
		v.refuse("%q holds a character that paths may not hold", text)
	case len(text) > pathLimit || slices.ContainsFunc(strings.Split(text, "/"), func(name string) bool { return len(name) > nameLimit }):
		v.refuse("is too long; at most %d bytes, and %d from slash to slash", pathLimit, nameLimit)
	default:
		for _, own := range reserved {
			if text == own || strings.HasPrefix(text, own+"/") || strings.HasPrefix(own, text+"/") {
				v.refuse("%q belongs to the control plane (%s)", text, own)

				return false
			}
		}

		return true
	}

	return false
}

// checkOverlap reports a path that was given before, or that would need a file to be a directory.
func checkOverlap(seen map[string]value, v value, text string) bool {
	if !unique(seen, v, text) {
		return false
	}

	for above := path.Dir(text); above != "."; above = path.Dir(above) {
		if first, both := seen[above]; both {
			v.refuse("%q needs %q to be a directory, which line %d says is a file", text, above, first.node.Line)

			return false
		}
	}

	for other, first := range seen {
		if strings.HasPrefix(other, text+"/") {
			v.refuse("%q is a directory for a file given in line %d", text, first.node.Line)

			return false
		}
	}

	return true
}

var (
	label  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	domain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

func checkLabel(v value, text string) bool {
	if !label.MatchString(text) {
		v.refuse("%q is no host name; use up to 63 lower-case letters, digits and hyphens", text)

		return false
	}

	return true
}

func checkDomain(v value, text string) bool {
	if len(text) > 253 || !domain.MatchString(text) {
		v.refuse("%q is no domain name; use lower-case letters, digits, hyphens and dots", text)

		return false
	}

	return true
}

func checkAddress(v value, text string) bool {
	if _, err := netip.ParseAddr(text); err != nil {
		v.refuse("%q is no IP address", text)

		return false
	}

	return true
}

func checkHost(v value, text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}

	return checkDomain(v, text)
}
