package recording

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/controller/generic/qtransform"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/gen/xerrors"
)

// outcomeOf is how a Run or a pass has returned.
func outcomeOf(items []resource.Pointer, err error) outcome {
	o := outcome{Error: failureOf(err), Skipped: xerrors.TagIs[qtransform.SkipReconcileTag](err)}

	var requeue *controller.RequeueError
	if errors.As(err, &requeue) {
		interval := requeue.Interval()
		o.Requeue = &interval
	}

	for _, item := range items {
		o.Items = append(o.Items, nameOf(item))
	}

	// Items are a set, which may come out of a map.
	slices.SortFunc(o.Items, compareNames)

	return o
}

// broken is the outcome of what did not return.
var broken = outcome{Broken: true}

// text is the outcome for people. Two outcomes are the same if their texts are.
func (o outcome) text() string {
	var b strings.Builder

	switch {
	case o.Broken:
		b.WriteString("did not return: it panicked or ended its goroutine\n")
	case o.Error == nil:
		b.WriteString("returned\n")
	default:
		fmt.Fprintf(&b, "returned the error %q\n", o.Error.Text)
	}

	if o.Requeue != nil {
		fmt.Fprintf(&b, "  to be called again after %s\n", *o.Requeue)
	}

	if o.Skipped {
		b.WriteString("  to be skipped until the next change\n")
	}

	for _, item := range o.Items {
		fmt.Fprintf(&b, "  %s\n", item)
	}

	return b.String()
}
