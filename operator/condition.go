package operator

import (
	"slices"
	"time"
)

// ConditionStatus says whether a condition holds.
type ConditionStatus string

// What a condition may be.
const (
	True    ConditionStatus = "True"
	False   ConditionStatus = "False"
	Unknown ConditionStatus = "Unknown"
)

// Condition is one thing that was seen of a resource. It is an observation and no checkpoint: the next pass looks again.
type Condition struct {
	// Type names the condition, as "DatabaseReady".
	Type string `yaml:"type" protobuf:"1"`
	// Status says whether it holds.
	Status ConditionStatus `yaml:"status" protobuf:"2"`
	// Reason is why, as one word for machines.
	Reason string `yaml:"reason,omitempty" protobuf:"3"`
	// Message is why, for people.
	Message string `yaml:"message,omitempty" protobuf:"4"`
	// ObservedGeneration is the generation of the resource that was looked at; 0 where it has none.
	ObservedGeneration int64 `yaml:"observedGeneration,omitempty" protobuf:"5"`
	// LastTransitionTime is when Status has become what it is.
	LastTransitionTime time.Time `yaml:"lastTransitionTime" protobuf:"6"`
}

// Conditions are those of one resource, each type once.
type Conditions []Condition

// Get returns the condition of a type.
func (c Conditions) Get(typ string) (Condition, bool) {
	if i := c.index(typ); i >= 0 {
		return c[i], true
	}

	return Condition{}, false
}

// Holds tells whether the condition of a type is there and is [True].
func (c Conditions) Holds(typ string) bool {
	found, _ := c.Get(typ)

	return found.Status == True
}

// With returns the conditions with one more, or with that of its type replaced. Its time is now if its status is another one than
// before, and stays what it was otherwise, whatever else has changed. The receiver is left as it is.
func (c Conditions) With(condition Condition, now time.Time) Conditions {
	condition.LastTransitionTime = now
	if old, known := c.Get(condition.Type); known && old.Status == condition.Status {
		condition.LastTransitionTime = old.LastTransitionTime
	}

	return c.put(condition)
}

// put returns the conditions with one more, or with that of its type replaced, as it is.
func (c Conditions) put(condition Condition) Conditions {
	i := c.index(condition.Type)
	if i < 0 {
		return append(slices.Clip(c), condition)
	}

	with := slices.Clone(c)
	with[i] = condition

	return with
}

// Without returns the conditions without those of the types. The receiver is left as it is.
func (c Conditions) Without(types ...string) Conditions {
	return slices.DeleteFunc(slices.Clone(c), func(condition Condition) bool { return slices.Contains(types, condition.Type) })
}

func (c Conditions) index(typ string) int {
	return slices.IndexFunc(c, func(condition Condition) bool { return condition.Type == typ })
}
