package controllers

import (
	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// TemplateController splits the document into one resource for each file that is a template.
type TemplateController = FanOutController[resources.TemplateSpec, resources.TemplateExtension]

// NewTemplateController returns the controller.
func NewTemplateController() *TemplateController {
	return &TemplateController{
		name: "TemplateController",
		split: func(m document.Machine) (wanted []*resources.Template) {
			for _, file := range templates(m) {
				t := resources.NewTemplate(file.Path)
				*t.TypedSpec() = resources.TemplateSpec(file)
				wanted = append(wanted, t)
			}

			return wanted
		},
	}
}

// templates lists the files of a machine that are templates: those it names, and the message of the day.
func templates(m document.Machine) []document.File {
	if m.MOTD == "" {
		return m.Files
	}

	return append([]document.File{{Path: document.PathMOTD, Mode: 0o644, Content: m.MOTD}}, m.Files...)
}
