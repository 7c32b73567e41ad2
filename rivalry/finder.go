package rivalry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/reduced"
)

const (
	// enough is how many writes must have undone something within window for a resource to be rewritten by rivals.
	enough = 16
	window = 10 * time.Second
	// inVain is how many more writes must have undone nothing than have for a resource not to be looked at any more.
	inVain = 8
	// mostRivalries is how many resources are slowed down at once. Those of them that are found first are.
	mostRivalries = 4096
)

// Rivalry is a resource that several controllers keep rewriting, each undoing what another has done.
type Rivalry struct {
	Resource reduced.Key
	// Controllers are those that do, in order.
	Controllers []string
	// Fields are what goes back and forth, in order: paths like spec.size, metadata.labels.owner or metadata.finalizers.name,
	// and existence where the resource is created and destroyed by turns.
	Fields []string
	// Rewrites counts the writes that have undone something.
	Rewrites int
	// Since is when it was found, and Interval for how long changes are held back from the controllers.
	Since    time.Time
	Interval time.Duration
}

// Config is what a finder is made of. All fields are needed.
type Config struct {
	// Clock is what time is told by, from Epoch on, which is not long ago.
	Clock clockwork.Clock
	Epoch time.Time
	// Wake is called when [Finder.Next] has changed. It must not block, and not call the finder.
	Wake func()
	// Found is called when a rivalry was found, by the goroutine of the controller whose write has shown it.
	Found func(Rivalry)
}

// Finder finds the rivalries of one engine, and holds back what the rivals do. All methods are safe for concurrent use; those
// of nil find nothing.
type Finder struct {
	cfg    Config
	filter filter

	numbers atomic.Uint32 // of writers
	count   atomic.Int64  // of rivalries

	// mu guards the fields below.
	mu     sync.Mutex
	closed bool
	// suspects are looked at, by the slots of the filter.
	suspects  map[int]*suspect
	rivalries map[reduced.Key]*rivals
	// next is when the first of their intervals ends, if there is one.
	next time.Duration
}

// suspect is a resource of which it is looked what is written.
type suspect struct {
	history

	key reduced.Key
	// since is when what counts has begun.
	since time.Duration
}

// NewFinder returns a finder to which nobody has written yet. It is closed.
func NewFinder(cfg Config) *Finder {
	return &Finder{cfg: cfg, closed: true, suspects: map[int]*suspect{}, rivalries: map[reduced.Key]*rivals{}}
}

// Open has the finder find rivalries, until it is closed.
func (f *Finder) Open() {
	if f == nil {
		return
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = false
}

// Close forgets all rivalries, and what was held. It is for when nobody is told of anything any more.
func (f *Finder) Close() {
	if f == nil {
		return
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	f.closed = true
	clear(f.suspects)
	clear(f.rivalries)
	f.count.Store(0)
}

// now is the time since the epoch.
func (f *Finder) now() time.Duration { return f.cfg.Clock.Since(f.cfg.Epoch) }

// None tells that there is no rivalry.
func (f *Finder) None() bool { return f == nil || f.count.Load() == 0 }

// Len returns how many rivalries there are.
func (f *Finder) Len() int {
	if f == nil {
		return 0
	}

	return int(f.count.Load())
}

// Rivalries returns those that there are, in order of the resource.
func (f *Finder) Rivalries() []Rivalry {
	if f.None() {
		return nil
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	all := make([]Rivalry, 0, len(f.rivalries))
	for _, key := range slices.SortedFunc(maps.Keys(f.rivalries), reduced.Key.Compare) {
		all = append(all, f.describe(key, f.rivalries[key]))
	}

	return all
}

func (f *Finder) describe(key reduced.Key, r *rivals) Rivalry {
	return Rivalry{
		Resource: key, Controllers: r.names(), Fields: r.contested(), Rewrites: r.undone,
		Since: f.cfg.Epoch.Add(r.since), Interval: r.interval,
	}
}

// note is told what a write has come to: contents or, of a resource that was destroyed, nothing.
func (f *Finder) note(by *Writer, key reduced.Key, read func() (contents, bool)) {
	at, look := f.filter.note(hashOf(key), by.number)

	if !look && !f.rewritten(key) {
		return
	}

	now, known := read()

	if found := f.look(by, key, at, now, known); found != nil {
		f.cfg.Found(*found)
	}
}

// rewritten tells whether there is a rivalry for the resource.
func (f *Finder) rewritten(key reduced.Key) bool {
	if f.None() {
		return false
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	return f.rivalries[key] != nil
}

// look takes a write to a resource into account that is suspicious, or more than that. It returns a rivalry that it has found.
func (f *Finder) look(by *Writer, key reduced.Key, at int, now contents, known bool) (found *Rivalry) {
	f.mu.Lock()
	defer f.mu.Unlock()

	switch r := f.rivalries[key]; {
	case f.closed:
		return nil
	case r != nil:
		if known {
			r.write(written{by, now})
		}

		return nil
	}

	s := f.suspects[at]
	if s == nil || s.key != key {
		s = &suspect{key: key}
		f.suspects[at] = s
	}

	switch {
	case !known, s.clear(written{by, now}, f.now()), s.undone >= enough && len(f.rivalries) == mostRivalries:
		delete(f.suspects, at)
		f.filter.acquit(at)
	case s.undone >= enough:
		rivalry := f.describe(key, f.beginLocked(key, s))

		delete(f.suspects, at)
		f.filter.forget(at) // now that the write that finds it free sees the rivalry
		f.cfg.Wake()

		return &rivalry
	}

	return nil
}

// beginLocked makes a rivalry of a suspicion.
func (f *Finder) beginLocked(key reduced.Key, s *suspect) *rivals {
	r := &rivals{history: s.history, since: f.now(), interval: shortest}
	r.begin(r.since)

	f.rivalries[key] = r
	f.count.Add(1)
	f.settleLocked()

	return r
}

// clear takes a write into account, and tells whether the resource need not be looked at any more.
func (s *suspect) clear(w written, now time.Duration) bool {
	if now-s.since > window {
		s.since, s.vain, s.undone = now, 0, 0
	}

	s.write(w)

	return s.vain > s.undone+inVain
}
