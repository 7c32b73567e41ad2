package controllers

import (
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// ServiceSpecController splits the document into one resource for each service. A service that has left the document
// stays, torn down, until its process has stopped.
type ServiceSpecController = FanOutController[resources.ServiceSpec, resources.ServiceExtension]

// NewServiceSpecController returns the controller.
func NewServiceSpecController() *ServiceSpecController {
	return &ServiceSpecController{
		name: "ServiceSpecController",
		split: func(m document.Machine) (wanted []*resources.Service) {
			// In this order, whoever looks at a service finds what it needs up to date.
			for _, service := range m.InOrder() {
				svc := resources.NewService(service.Name)
				*svc.TypedSpec() = resources.ServiceSpec(service)

				for _, need := range service.Needs {
					svc.Metadata().Labels().Set(resources.NeedLabel(need), "")
				}

				wanted = append(wanted, svc)
			}

			return wanted
		},
	}
}
