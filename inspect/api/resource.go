package api

import "time"

// Finalizer is a finalizer of a resource.
type Finalizer struct {
	Name string `json:"name"`
	// Registered tells that a controller of that name is registered, and State what it is doing.
	Registered bool  `json:"registered"`
	State      State `json:"state,omitempty"`
	// Orphaned tells that nobody who is known will remove it.
	Orphaned bool `json:"orphaned,omitempty"`
}

// Version is one version of a resource that somebody has seen or made.
type Version struct {
	// Version is the version; 0 is that the pass was not told which came of what it did.
	Version uint64 `json:"version"`
	// Verb is what the pass has done, or what was seen to have changed.
	Verb string `json:"verb"`
	// By is the pass that has made it; nil is that no pass that is remembered has.
	By *PassRef `json:"by,omitempty"`
	// SeenBy is the pass that was told of it, where nobody is known to have made it. Forgotten tells that one that is forgotten may
	// have; otherwise it was made from outside.
	SeenBy    *PassRef `json:"seenBy,omitempty"`
	Forgotten bool     `json:"forgotten,omitempty"`
	// At is when it was made, or seen.
	At time.Time `json:"at"`
}

// ResourceDetail is all there is to say about a resource.
type ResourceDetail struct {
	Ref
	// Exists tells whether it is there. If it is not, the fields down to YAML are empty.
	Exists  bool       `json:"exists"`
	Version string     `json:"version,omitempty"`
	Phase   string     `json:"phase,omitempty"`
	Owner   string     `json:"owner,omitempty"`
	Created *time.Time `json:"created,omitempty"`
	Updated *time.Time `json:"updated,omitempty"`
	// Finalizers are who has yet to let go of it.
	Finalizers []Finalizer `json:"finalizers"`
	// Says is what the resource says of itself in a line, where it does and may be shown.
	Says string `json:"says,omitempty"`
	// YAML is the resource, without its spec where Redacted says why.
	YAML     string `json:"yaml,omitempty"`
	Redacted string `json:"redacted,omitempty"`

	// Writers are the controllers that declare to write its type, Dependents those with it among their inputs.
	Writers    []string `json:"writers"`
	Dependents []string `json:"dependents"`
	// History is the versions that are remembered, the latest first.
	History []Version `json:"history"`
}

// ResourceRow is a resource in a list.
type ResourceRow struct {
	Ref
	Version string `json:"version"`
	Phase   string `json:"phase"`
	Owner   string `json:"owner,omitempty"`
}

// ResourceList is the resources of a kind.
type ResourceList struct {
	Namespace string        `json:"namespace"`
	Type      string        `json:"type"`
	Items     []ResourceRow `json:"items"`
	// More is how many there are beside.
	More int `json:"more,omitempty"`
}
