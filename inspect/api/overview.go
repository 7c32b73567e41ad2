package api

import "time"

// Overview is the engine at one moment.
type Overview struct {
	// At is the moment, and Running whether the engine runs.
	At      time.Time `json:"at"`
	Running bool      `json:"running"`
	// Revision tells whether declarations have changed since another overview.
	Revision    uint64       `json:"revision"`
	Controllers []Controller `json:"controllers"`
	Kinds       []Kind       `json:"kinds"`
	// Problems are sentences, none where all is well.
	Problems []string `json:"problems"`
	// Findings are what is to be said of the declarations alone: loops, inputs nobody writes, outputs nobody reads.
	Findings []Finding `json:"findings"`
}

// Kind is a watched kind.
type Kind struct {
	Namespace string `json:"namespace"`
	Type      string `json:"type"`
	// Open tells whether its watch is open, Synced whether its contents have come, and Cached whether it is read from memory.
	Open   bool `json:"open"`
	Synced bool `json:"synced"`
	Cached bool `json:"cached"`
	// Known counts the resources that the engine keeps track of.
	Known int `json:"known"`
	// Error is why it is not watched.
	Error string `json:"error,omitempty"`
}

// Finding is something to be said of the declarations.
type Finding struct {
	// Severity is "warning" or "note", and Kind "loop", "unproduced" or "unread".
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	// Controllers are whom it concerns.
	Controllers []string `json:"controllers,omitempty"`
}

// Controllers is a list of controllers, in order of name.
type Controllers struct {
	Controllers []Controller `json:"controllers"`
}

// Findings is a list of findings.
type Findings struct {
	Findings []Finding `json:"findings"`
}

// Passes is a list of passes, the latest first.
type Passes struct {
	Passes []Pass `json:"passes"`
	// Note says what limits the answer, or is empty.
	Note string `json:"note,omitempty"`
}

// Problem is how the API says that it has no answer.
type Problem struct {
	// Status is the status of HTTP, Error what is the matter, and Do what to do about it, or empty.
	Status int    `json:"status"`
	Error  string `json:"error"`
	Do     string `json:"do,omitempty"`
}

// String is the problem in a line.
func (p *Problem) String() string {
	text := p.Error
	if p.Do != "" {
		text += "; " + p.Do
	}

	return Printable(text)
}
