package generation

import (
	"strconv"

	"github.com/cosi-project/runtime/pkg/resource"
)

// Annotations that carry the stamps.
const (
	// Annotation is how often the spec has changed, as a decimal number.
	Annotation = "switchyard.run/generation"
	// UIDAnnotation tells lives of one id apart.
	UIDAnnotation = "switchyard.run/uid"
)

// Of returns the generation of a resource, from 1 on; 0 if it has none.
func Of(res resource.Resource) int64 {
	text, _ := res.Metadata().Annotations().Get(Annotation)

	generation, err := strconv.ParseInt(text, 10, 64)
	if err != nil || generation < 0 {
		return 0
	}

	return generation
}

// UID returns which life of its id a resource is in; nothing if that is not known.
func UID(res resource.Resource) string {
	uid, _ := res.Metadata().Annotations().Get(UIDAnnotation)

	return uid
}

// stamp sets the stamps of a resource. Without a uid it has none.
func stamp(res resource.Resource, generation int64, uid string) {
	annotations := res.Metadata().Annotations()

	if uid == "" {
		annotations.Delete(Annotation)
		annotations.Delete(UIDAnnotation)

		return
	}

	annotations.Set(Annotation, strconv.FormatInt(generation, 10))
	annotations.Set(UIDAnnotation, uid)
}
