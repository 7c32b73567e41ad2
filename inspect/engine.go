package inspect

import (
	"github.com/switchyard-run/switchyard/inspect/answer"
	"github.com/switchyard-run/switchyard/inspect/follow"
	"github.com/switchyard-run/switchyard/inspect/prom"
)

// Engine is what is asked of an engine; runtime.Runtime is one. Its methods are called by several goroutines at once.
type Engine interface {
	answer.Engine
	follow.Engine
	prom.Engine
}
