package main

import (
	"maps"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"

	"github.com/switchyard-run/switchyard/operator"
)

// The types of resources, all in one namespace.
const (
	namespace                        = resource.Namespace("default")
	settingsType       resource.Type = "Settings.examples.switchyard.run"
	settingsStatusType resource.Type = "SettingsStatuses.examples.switchyard.run"
	configMapType      resource.Type = "ConfigMaps.examples.switchyard.run"
)

// Settings is what somebody asks for.
type Settings = typed.Resource[SettingsSpec, settingsExtension]

// SettingsSpec is the spec of [Settings].
type SettingsSpec struct {
	Message   string
	Suspended bool
}

// DeepCopy implements the contract of typed resources.
func (s SettingsSpec) DeepCopy() SettingsSpec { return s }

type settingsExtension struct{}

func (settingsExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: settingsType, DefaultNamespace: namespace}
}

// SettingsStatus is what the controller says about [Settings].
type SettingsStatus = operator.StatusResource[Checksum, settingsStatusExtension]

// Checksum is that of the configuration that was read back.
type Checksum struct{ SHA256 string }

// DeepCopy implements the contract of typed resources.
func (c Checksum) DeepCopy() Checksum { return c }

type settingsStatusExtension struct{}

func (settingsStatusExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: settingsStatusType, DefaultNamespace: namespace}
}

// ConfigMap is what is made of [Settings].
type ConfigMap = typed.Resource[ConfigMapSpec, configMapExtension]

// ConfigMapSpec is the spec of [ConfigMap].
type ConfigMapSpec struct{ Data map[string]string }

// DeepCopy implements the contract of typed resources.
func (s ConfigMapSpec) DeepCopy() ConfigMapSpec { return ConfigMapSpec{maps.Clone(s.Data)} }

type configMapExtension struct{}

func (configMapExtension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: configMapType, DefaultNamespace: namespace}
}

func newSettings(id resource.ID, message string) *Settings {
	return typed.NewResource[SettingsSpec, settingsExtension](*pointer(settingsType, id), SettingsSpec{Message: message})
}

func pointer(typ resource.Type, id resource.ID) *resource.Metadata {
	md := resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)

	return &md
}
