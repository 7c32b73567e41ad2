package main

import (
	"fmt"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
)

// What the resources of a group are called. Sources, notes and selections are written by the group's writer, the others
// by its controllers.
const (
	sources    = "Sources"
	notes      = "Notes"
	selections = "Selections"
	copies     = "Copies"
	joins      = "Joins"
	sums       = "Sums"
	tallies    = "Tallies"
	picks      = "Picks"
)

// kinds are all of them.
var kinds = []string{sources, notes, selections, copies, joins, sums, tallies, picks}

// The ids of what there is one of in each group.
const (
	theSelection = "selection"
	theSum       = "sum"
	thePick      = "pick"
)

// Labels of sources and copies, and of notes: which tally a source counts for, and which source a note is about.
const (
	bucketLabel = "bucket"
	aboutLabel  = "about"
)

// recordSpec is the content of all resources: a value, or the ids of a selection.
type recordSpec struct {
	Value int64
	IDs   []resource.ID
}

// DeepCopy implements the contract's interface for specifications.
func (s recordSpec) DeepCopy() recordSpec {
	s.IDs = slices.Clone(s.IDs)

	return s
}

type recordDefinition struct{}

// ResourceDefinition implements the contract's interface for definitions.
func (recordDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Records.soak"}
}

type record = typed.Resource[recordSpec, recordDefinition]

// newRecord returns an empty resource.
func newRecord(ptr resource.Pointer) *record {
	return typed.NewResource[recordSpec, recordDefinition](
		resource.NewMetadata(ptr.Namespace(), ptr.Type(), ptr.ID(), resource.VersionUndefined), recordSpec{})
}

// specOf returns the content of a resource.
func specOf(res resource.Resource) *recordSpec { return res.(*record).TypedSpec() }

// label returns a label of a resource, or nothing.
func label(res resource.Resource, key string) string {
	value, _ := res.Metadata().Labels().Get(key)

	return value
}

func running(res resource.Resource) bool { return res.Metadata().Phase() == resource.PhaseRunning }

// setting returns a function that gives a resource a value and, unless it is empty, a bucket.
func setting(value int64, bucket string) func(resource.Resource) error {
	return func(res resource.Resource) error {
		specOf(res).Value = value

		if bucket != "" {
			res.Metadata().Labels().Set(bucketLabel, bucket)
		}

		return nil
	}
}

// look is how a resource looks as far as it follows from the sources.
func look(value int64, bucket string, phase resource.Phase, holders ...resource.Finalizer) string {
	return fmt.Sprintf("%d %q %s %q", value, bucket, phase, holders)
}

// lookOf returns how a resource looks.
func lookOf(res resource.Resource) string {
	md := res.Metadata()

	return look(specOf(res).Value, label(res, bucketLabel), md.Phase(), *md.Finalizers()...)
}
