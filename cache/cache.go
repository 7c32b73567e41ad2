package cache

import (
	"github.com/switchyard-run/switchyard/reduced"
)

// Config says what a [Cache] is to hold.
type Config struct {
	// Kinds are what is cached. They may repeat.
	Kinds []reduced.Kind

	// Detect, if it is not nil, has the cache find out who changes a resource that was only lent, and is told. It is
	// called in the goroutine that finds the change, which may be any that uses the cache, and must not change the resource.
	// No lock of the cache is held, but where it is the watch that finds the change, that waits: to ask the engine for its
	// health or for a barrier from within would be to wait for oneself. Reads then cost a comparison for each resource
	// lent, and memory is needed for a second copy of each; it is for tests and for the search of an error. Nil, the
	// default, costs nothing.
	Detect func(*MutationError)
}

// Cache is the set of cached kinds of an engine. The set is fixed when it is made.
type Cache struct {
	collections map[reduced.Kind]*Collection
	kinds       []reduced.Kind
	few         []*Collection // of the kinds, in their order, while they are a handful
}

// handful is how many kinds are looked through one by one.
const handful = 8

// New returns a cache, whose collections serve nothing before they are started.
func New(cfg Config) *Cache {
	c := &Cache{collections: make(map[reduced.Kind]*Collection, len(cfg.Kinds))}

	for _, kind := range cfg.Kinds {
		if _, ok := c.collections[kind]; !ok {
			c.collections[kind] = &Collection{kind: kind, detect: cfg.Detect}
			c.kinds = append(c.kinds, kind)
		}
	}

	if len(c.kinds) <= handful {
		for _, kind := range c.kinds {
			c.few = append(c.few, c.collections[kind])
		}
	}

	return c
}

// Collection returns the collection of the kind, or nil when the kind is not cached.
func (c *Cache) Collection(kind reduced.Kind) *Collection {
	if len(c.kinds) > handful {
		return c.collections[kind]
	}

	// Equal strings are mostly the same ones, and then comparing is faster than hashing.
	for i := range c.kinds {
		if c.kinds[i].Type == kind.Type && c.kinds[i].Namespace == kind.Namespace {
			return c.few[i]
		}
	}

	return nil
}

// Kinds returns the cached kinds in the order in which they were given. The slice is shared, do not change it.
func (c *Cache) Kinds() []reduced.Kind { return c.kinds }

// Check calls [Collection.Check] for each kind.
func (c *Cache) Check() {
	for _, kind := range c.kinds {
		c.collections[kind].Check()
	}
}
