package controllers

import (
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
)

// pointers is what a mapper returns for a list of resources.
func pointers[T resource.Resource](list safe.List[T]) []resource.Pointer {
	all := make([]resource.Pointer, 0, list.Len())

	for p := range list.Pointers() {
		all = append(all, p)
	}

	return all
}
