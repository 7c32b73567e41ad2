// Package controllers owns the behaviour of the appliance: small controllers that know nothing of each other and meet
// only in resources. Each file is one controller, and says on top what it reads, what it writes and why it is needed.
//
//	machine.yaml
//	    | DocumentController (reads and watches the file)
//	 Document
//	    |- HostnameController, ResolverController, TimeServerController -> EtcFilesController -\
//	    |- TemplateController -> RenderController (with FactsController) ---------------------- File
//	    |                                      DiskController -> DiskStatus -> FileController -> FileStatus --.
//	    `- ServiceSpecController -> Service                                                                  |
//	          |- EndpointController -> Endpoint                                                              |
//	          `- ServiceController -> Process -> ProcessController -> ProcessStatus                          |
//	               |                             HealthController  -> HealthStatus                           |
//	               `-> ServiceStatus ---------------------------------------------> MachineStatusController -+-> MachineStatus
//
// The controllers use the public contract alone, so any engine can run them. Those that look at the world outside the
// state (the document, the tree of the files, the processes) are classic controllers with a source of wakeups of their
// own; those that work resource by resource are queue controllers. The ones that bring something about for each service,
// file and request are made with package operator, which owns their finalizers, statuses and retries. Goroutines belong to
// package files and package supervise.
package controllers

import (
	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/supervise"
)

// World is what the controllers know of the machine outside the state. A graph of the controllers needs none of it.
type World struct {
	// Document is the path of the document.
	Document string
	// Dir is the absolute path of the root directory.
	Dir string
	// Self is the path of this program.
	Self string
	// Tree is the root directory as a set of files.
	Tree *files.Tree
	// Supervisor runs the processes. Whoever made it calls Wake after each change of a status.
	Supervisor *supervise.Supervisor
	// Wake carries the supervisor's wakeups to the controller of the processes.
	Wake *Wake
	// Clock is the time that health checks and pauses go by.
	Clock clockwork.Clock
	// Logger gets what becomes of services; nil is nobody.
	Logger *zap.Logger
}

// Register registers all controllers of the appliance with an engine, which may be running or not.
func Register(engine controller.Engine, w World) error {
	for _, ctrl := range []controller.Controller{
		&DocumentController{Path: w.Document, Clock: w.Clock},
		NewHostnameController(),
		NewResolverController(),
		NewTimeServerController(),
		&FactsController{},
		&EtcFilesController{},
		NewTemplateController(),
		&DiskController{Tree: w.Tree, Dir: w.Dir},
		NewServiceSpecController(),
		&ProcessController{Supervisor: w.Supervisor, Wake: w.Wake},
		&MachineStatusController{},
	} {
		if err := engine.RegisterController(ctrl); err != nil {
			return err
		}
	}

	for _, ctrl := range []controller.QController{
		NewRenderController(),
		NewEndpointController(),
		&HealthController{Clock: w.Clock},
	} {
		if err := engine.RegisterQController(ctrl); err != nil {
			return err
		}
	}

	return operator.Register(engine,
		NewServiceController(w.Self, w.Dir).RecordEvents(notes{w.Logger}),
		NewRestartController(),
		NewFileController(w.Tree),
	)
}

// found turns "not found" into nil, for resources that may or may not be there.
func found[R resource.Resource](r R, err error) (R, error) {
	if state.IsNotFoundError(err) {
		var none R

		return none, nil
	}

	return r, err
}
