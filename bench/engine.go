package main

import (
	"fmt"

	"github.com/cosi-project/runtime/pkg/controller"
	peer "github.com/cosi-project/runtime/pkg/controller/runtime"
	"github.com/cosi-project/runtime/pkg/controller/runtime/options"
	"github.com/cosi-project/runtime/pkg/state"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/runtime"
)

// engine is what both engines offer, and all that a workload may use.
type engine interface {
	controller.Engine

	CachedState() state.CoreState
	GetDependencyGraph() (*controller.DependencyGraph, error)
}

// The contenders: the two engines, and what the same takes without an engine.
const (
	oursName  = "ours"
	peerName  = "peer"
	floorName = "floor"
)

// forgetful has an engine remember no passes, which the peer does not either. What that saves is in a table of its own.
const forgetful = -1

// build makes an engine with the contract's options, metrics at their default, and a silent logger.
func build(name string, st state.State, opts ...options.Option) (engine, error) {
	switch name {
	case oursName:
		return runtime.New(st, zap.NewNop(), runtime.Config{Options: opts, Passes: forgetful})
	case tracedName:
		return runtime.NewRuntime(st, zap.NewNop(), opts...)
	case untracedName:
		return runtime.New(st, zap.NewNop(), runtime.Config{Options: opts, Passes: forgetful})
	case peerName:
		return peer.NewRuntime(st, zap.NewNop(), opts...)
	default:
		return nil, fmt.Errorf("there is no engine %q", name)
	}
}
