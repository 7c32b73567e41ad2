package cache

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/reduced"
)

// MutationError says that somebody has changed a resource that the cache had only lent. See [Config.Detect].
type MutationError struct {
	// Key names the resource.
	Key reduced.Key
	// Readers are those whom it was lent to since it was last seen unchanged, in order. One of them has changed it, or one
	// of Earlier who has kept it, or the one that put it into the cache.
	Readers []string
	// Earlier are the other readers that it was lent to.
	Earlier []string
	// Before is the resource as it was, and After what has become of it. They must not be changed, and whoever changed
	// the resource may be at it again.
	Before, After resource.Resource
}

// Error names the resource and the readers, and says what to do.
func (e *MutationError) Error() string {
	suspects := "nobody, so that it was changed by the one that put it there"

	switch {
	case len(e.Readers) > 0:
		suspects = strings.Join(e.Readers, ", ")
	case len(e.Earlier) > 0:
		suspects = strings.Join(e.Earlier, ", ") + " long ago"
	}

	return fmt.Sprintf("cached resource %s was changed, it had been lent to %s: take a deep copy before changing what the cache shares", e.Key, suspects)
}

// loan is a cached resource of which it is known to whom it was lent, when changes are to be detected. As a resource, it
// is a deep copy that nobody else has.
type loan struct {
	resource.Resource

	// mu guards the fields below.
	mu      sync.Mutex
	lent    resource.Resource // what readers get
	readers []string          // since it was last seen unchanged
	earlier []string
	blind   bool // a deep copy never equals it, so nothing can be told
}

func newLoan(res resource.Resource) *loan {
	l := &loan{Resource: res.DeepCopy(), lent: res}
	l.blind = !resource.Equal(res, l.Resource)

	return l
}

// to returns what to lend to a reader.
func (l *loan) to(reader string) resource.Resource {
	l.mu.Lock()
	defer l.mu.Unlock()

	if !slices.Contains(l.readers, reader) {
		l.readers = append(l.readers, reader)
	}

	return l.lent
}

// look returns an error if what was lent was changed. It then is not lent any more.
func (l *loan) look(kind reduced.Kind) *MutationError {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.blind || resource.Equal(l.Resource, l.lent) {
		for _, reader := range l.readers {
			if !slices.Contains(l.earlier, reader) {
				l.earlier = append(l.earlier, reader)
			}
		}

		l.readers = nil

		return nil
	}

	err := &MutationError{
		Key: reduced.Key{Kind: kind, ID: l.Metadata().ID()}, Readers: l.readers, Before: l.Resource, After: l.lent,
	}

	for _, reader := range l.earlier {
		if !slices.Contains(l.readers, reader) {
			err.Earlier = append(err.Earlier, reader)
		}
	}

	l.lent, l.readers, l.earlier = l.DeepCopy(), nil, nil

	return err
}

// returned looks at a resource that the cache has, if changes are to be detected.
func (c *Collection) returned(res resource.Resource) {
	if l, ok := res.(*loan); ok {
		if err := l.look(c.kind); err != nil {
			c.detect(err)
		}
	}
}

// Check looks for resources that were changed by those whom they were lent to, and reports them as [Config.Detect] asks
// for. They are looked at, one by one, whenever they are lent again, when the body of a loop over a view has returned, and
// when they go; this is for the end of a test. Where nothing is to be detected it does nothing.
func (c *Collection) Check() {
	if r := c.run.Load(); r != nil {
		c.check(r)
	}
}

func (c *Collection) check(r *run) {
	now := r.published.Load()
	if c.detect == nil || now == nil {
		return
	}

	now.tree.scan(span{}, func(_ resource.ID, res resource.Resource) bool {
		c.returned(res)

		return true
	})
}

// lend returns what the reader is to get of a resource that the view shows.
func (v View) lend(res resource.Resource) resource.Resource {
	if v.of.detect == nil {
		return res
	}

	v.of.returned(res)

	return v.loan(res).to(v.reader)
}

// loan returns the loan of a resource. That of a patch is a copy, of which only a loop can tell whether it was changed.
func (v View) loan(res resource.Resource) *loan {
	if l, ok := res.(*loan); ok {
		return l
	}

	return newLoan(res.DeepCopy())
}

// lending returns what hands resources to the body of a reader's loop.
func (v View) lending(body func(resource.Resource) bool) each {
	if v.of.detect == nil {
		return func(_ resource.ID, res resource.Resource) bool { return body(res) }
	}

	return func(_ resource.ID, res resource.Resource) bool {
		v.of.returned(res)

		l := v.loan(res)
		defer v.of.returned(l)

		return body(l.to(v.reader))
	}
}
