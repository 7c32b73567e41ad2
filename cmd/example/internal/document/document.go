// Package document owns the one file that says what the appliance shall be: its shape ([Machine]), how it is read,
// and every reason for which it may be refused ([Problem], with line, column and field).
//
// A document is read as a whole: [Parse] returns either a machine that needs no further checks, or all of its
// problems in the order of the text. The package starts no goroutine and touches no file.
package document

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Machine is a document that was read and found good. It is plain data: copy it with [Machine.DeepCopy].
//
// Lists that are empty are nil, so that a machine that travelled through a wire format compares equal to the original.
type Machine struct {
	// Hostname is the short name of the machine, one DNS label.
	Hostname string `yaml:"hostname" protobuf:"1"`
	// Domain is what the hostname is completed with, or empty.
	Domain string `yaml:"domain,omitempty" protobuf:"2"`
	// Hosts are entries of the hosts file beyond the machine itself.
	Hosts []Host `yaml:"hosts,omitempty" protobuf:"3"`
	// Resolver is what the resolver file says.
	Resolver Resolver `yaml:"resolver,omitempty" protobuf:"4"`
	// TimeServers are names or addresses, most preferred first.
	TimeServers []string `yaml:"timeServers,omitempty" protobuf:"5"`
	// MOTD is the template of the message of the day, or empty.
	MOTD string `yaml:"motd,omitempty" protobuf:"6"`
	// Files are further files, rendered from templates.
	Files []File `yaml:"files,omitempty" protobuf:"7"`
	// Services are the processes the machine runs.
	Services []Service `yaml:"services,omitempty" protobuf:"8"`
}

// Host is one line of the hosts file.
type Host struct {
	// Address is an IPv4 or IPv6 address.
	Address string `yaml:"address" protobuf:"1"`
	// Names is at least one name.
	Names []string `yaml:"names" protobuf:"2"`
}

// Resolver is the content of the resolver file.
type Resolver struct {
	// Servers are the addresses of name servers, most preferred first.
	Servers []string `yaml:"servers,omitempty" protobuf:"1"`
	// Search are the domains that short names are tried in.
	Search []string `yaml:"search,omitempty" protobuf:"2"`
}

// File is a file under the root of the machine.
type File struct {
	// Path is relative to the root, with slashes, clean, and never leaves the root.
	Path string `yaml:"path" protobuf:"1"`
	// Mode holds the permission bits, 0644 where the document does not say.
	Mode uint32 `yaml:"mode" protobuf:"2"`
	// Content is a template over [Facts].
	Content string `yaml:"content" protobuf:"3"`
}

// Kind tells what it means for a service to be up.
type Kind string

const (
	// Daemon is a service that shall keep running; one that exits is started again.
	Daemon Kind = "daemon"
	// OneShot is a service that shall run once and exit with code 0; one that fails is tried again.
	OneShot Kind = "oneshot"
)

// PortAuto stands for a free loopback port that the control plane picks.
const PortAuto = -1

// Service is one process of the machine.
type Service struct {
	// Name is unique among the services.
	Name string `yaml:"name" protobuf:"1"`
	// Kind is [Daemon] where the document does not say.
	Kind Kind `yaml:"kind" protobuf:"2"`
	// Command is the program and its arguments; $NAME in them stands for a variable of the service's environment.
	Command []string `yaml:"command" protobuf:"3"`
	// Env is what the service finds in its environment beyond what the control plane puts there.
	Env map[string]string `yaml:"env,omitempty" protobuf:"4"`
	// Needs names the services that have to be ready before this one is started.
	Needs []string `yaml:"needs,omitempty" protobuf:"5"`
	// Port is the loopback port the service listens on, [PortAuto], or 0 for none.
	Port int `yaml:"port,omitempty" protobuf:"6"`
	// Health says how to find out that the service is well. Without a path, a daemon that has run for a moment is ready.
	Health Health `yaml:"health,omitempty" protobuf:"7"`
	// Restart says how long to wait before the service is started again.
	Restart Restart `yaml:"restart" protobuf:"8"`
	// Stop is how long the service may take to end after it was asked to.
	Stop time.Duration `yaml:"stop" protobuf:"9"`
}

// Health describes an HTTP check against the service's own port.
type Health struct {
	// Path is requested with GET; a status from 200 to 299 is good. Empty means no check.
	Path string `yaml:"path,omitempty" protobuf:"1"`
	// Interval is the pause between two checks.
	Interval time.Duration `yaml:"interval,omitempty" protobuf:"2"`
	// Timeout bounds one check.
	Timeout time.Duration `yaml:"timeout,omitempty" protobuf:"3"`
	// Failures is how many checks in a row have to fail until the service is restarted.
	Failures int `yaml:"failures,omitempty" protobuf:"4"`
	// Grace is how long a fresh process may fail its checks without being restarted for it.
	Grace time.Duration `yaml:"grace,omitempty" protobuf:"5"`
}

// Restart describes the pauses between attempts: they double from Delay up to Max.
type Restart struct {
	Delay time.Duration `yaml:"delay" protobuf:"1"`
	Max   time.Duration `yaml:"max" protobuf:"2"`
}

// DeepCopy returns a machine that shares no memory with m.
func (m Machine) DeepCopy() Machine {
	m.Hosts = copyEach(m.Hosts, Host.DeepCopy)
	m.Resolver = m.Resolver.DeepCopy()
	m.TimeServers = slices.Clone(m.TimeServers)
	m.Files = slices.Clone(m.Files)
	m.Services = copyEach(m.Services, Service.DeepCopy)

	return m
}

// InOrder lists the services so that each comes after all that it needs.
func (m Machine) InOrder() []Service {
	var (
		ordered []Service
		visit   func(Service)
	)

	byName, seen := make(map[string]Service), make(map[string]bool)

	for _, s := range m.Services {
		byName[s.Name] = s
	}

	visit = func(s Service) {
		if seen[s.Name] {
			return
		}

		seen[s.Name] = true

		for _, need := range s.Needs {
			visit(byName[need])
		}

		ordered = append(ordered, s)
	}

	for _, s := range m.Services {
		visit(s)
	}

	return ordered
}

// DeepCopy returns a host that shares no memory with h.
func (h Host) DeepCopy() Host {
	h.Names = slices.Clone(h.Names)

	return h
}

// DeepCopy returns a resolver that shares no memory with r.
func (r Resolver) DeepCopy() Resolver {
	r.Servers = slices.Clone(r.Servers)
	r.Search = slices.Clone(r.Search)

	return r
}

// DeepCopy returns a service that shares no memory with s.
func (s Service) DeepCopy() Service {
	s.Command = slices.Clone(s.Command)
	s.Env = maps.Clone(s.Env)
	s.Needs = slices.Clone(s.Needs)

	return s
}

// Revision identifies what the file says, so that a later stage can tell which state of it it has seen.
func (f File) Revision() string { return revision(f) }

// Revision identifies what the service says, so that a later stage can tell which state of it it has seen.
func (s Service) Revision() string { return revision(s) }

// revision digests plain data: equal data, equal text. The encoding sorts the keys of maps.
func revision(data any) string {
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("document: %T is plain data and must encode: %v", data, err))
	}

	return Digest(text)
}

// Digest is the short form of a content hash that statuses and logs show.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)

	return hex.EncodeToString(sum[:8])
}

func copyEach[T any](items []T, deepCopy func(T) T) []T {
	items = slices.Clone(items)

	for i := range items {
		items[i] = deepCopy(items[i])
	}

	return items
}
