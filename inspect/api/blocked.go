package api

// Blocked is the answer to what a resource, or a controller, waits for.
type Blocked struct {
	// Resource is what was asked about, or Controller.
	Resource   *Ref   `json:"resource,omitempty"`
	Controller string `json:"controller,omitempty"`
	// Waits tells whether it waits for anything. If not, Roots is empty.
	Waits bool `json:"waits"`
	// Roots are what it waits for in the end, in sentences, the most telling first.
	Roots []BlockedRoot `json:"roots"`
	// Tree leads there.
	Tree *Obstacle `json:"tree"`
	// Note says what limits the answer, or is empty.
	Note string `json:"note,omitempty"`
}

// ObstacleKind is what kind of obstacle something is.
type ObstacleKind string

// Kinds of obstacles.
const (
	// ObstacleNone is no obstacle: all is well with it, as far as can be told.
	ObstacleNone ObstacleKind = "none"
	// ObstacleTeardown is a resource in teardown that others have yet to let go of.
	ObstacleTeardown ObstacleKind = "teardown"
	// ObstacleUndestroyed is a resource in teardown that all have let go of, and that nobody has destroyed.
	ObstacleUndestroyed ObstacleKind = "undestroyed"
	// ObstacleMissing is a resource that is not there.
	ObstacleMissing ObstacleKind = "missing"
	// ObstacleCondition is a condition that does not hold.
	ObstacleCondition ObstacleKind = "condition"
	// ObstacleOrphan is a finalizer whose controller is not registered.
	ObstacleOrphan ObstacleKind = "orphan"
	// ObstacleFailure is a controller that fails.
	ObstacleFailure ObstacleKind = "failure"
	// ObstacleStuck is a pass that does not come back.
	ObstacleStuck ObstacleKind = "stuck"
	// ObstaclePaused is a controller that is given no work.
	ObstaclePaused ObstacleKind = "paused"
	// ObstacleEnded is a controller that has finished or was stopped.
	ObstacleEnded ObstacleKind = "ended"
	// ObstacleEngine is an engine that does not run.
	ObstacleEngine ObstacleKind = "engine"
	// ObstacleWatch is a kind that can not be watched, or whose contents have not come.
	ObstacleWatch ObstacleKind = "watch"
	// ObstacleBacklog is work that waits behind other work.
	ObstacleBacklog ObstacleKind = "backlog"
	// ObstacleRivalry is controllers that undo each other.
	ObstacleRivalry ObstacleKind = "rivalry"
	// ObstacleDamped is a controller that wakes itself.
	ObstacleDamped ObstacleKind = "damped"
	// ObstacleWaiting is a controller that waits for what its pass has found, or not found.
	ObstacleWaiting ObstacleKind = "waiting"
	// ObstacleCycle is something that stands further up already: what waits for each other waits for ever.
	ObstacleCycle ObstacleKind = "cycle"
	// ObstacleCut is that the answer goes no further.
	ObstacleCut ObstacleKind = "cut"
)

// Obstacle is something that is waited for, and what that waits for in turn.
type Obstacle struct {
	Kind ObstacleKind `json:"kind"`
	// Resource is what it is about, or Controller, or both: a controller with regard to a resource.
	Resource   *Ref   `json:"resource,omitempty"`
	Controller string `json:"controller,omitempty"`
	// Text says in a sentence what is the matter with it.
	Text string `json:"text"`
	// Do says what a person may do about it, or is empty.
	Do string `json:"do,omitempty"`
	// Pass is the pass that has shown it.
	Pass *PassRef `json:"pass,omitempty"`
	// Because is what it waits for in turn. Where there is nothing, it is a root.
	Because []*Obstacle `json:"because,omitempty"`
}

// BlockedRoot is something that is waited for in the end.
type BlockedRoot struct {
	Kind ObstacleKind `json:"kind"`
	Text string       `json:"text"`
	Do   string       `json:"do,omitempty"`
	// Resource is what it is about, or Controller.
	Resource   *Ref   `json:"resource,omitempty"`
	Controller string `json:"controller,omitempty"`
	// Perhaps tells that it may be of no account: something is missing that may not be needed, and there are better reasons.
	Perhaps bool `json:"perhaps,omitempty"`
}
