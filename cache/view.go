package cache

import (
	"fmt"
	"iter"
	"strings"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/switchyard-run/switchyard/reduced"
)

// View is the contents of a collection at one moment, as one reader sees them. It does not change, needs no lock, and
// may be used by several goroutines.
//
// Get and List return deep copies, which are the caller's. Lend, All, Prefix and Match copy nothing: what they return is
// shared with all readers and the cache, and must not be changed, nor what it points at; who wants to change it takes a
// deep copy first. See [Config.Detect] for who does not keep to that.
type View struct {
	of     *Collection
	run    *run
	now    *contents
	reader string
	patch  []Patch // in order of id, each id once
}

// Len returns the number of resources.
func (v View) Len() int {
	n := v.now.tree.len()

	for _, p := range v.patch {
		_, there := v.now.tree.get(p.ID)

		switch {
		case there && p.Resource == nil:
			n--
		case !there && p.Resource != nil:
			n++
		}
	}

	return n
}

// Get returns a deep copy of the resource, or a [NotFoundError].
func (v View) Get(id resource.ID) (resource.Resource, error) {
	res, ok := v.find(id)
	if !ok {
		return nil, v.missing(id)
	}

	return res.DeepCopy(), nil
}

// List returns deep copies of the resources that match the queries, sorted by id.
func (v View) List(opts state.ListOptions) resource.List {
	if everything(opts) && len(v.patch) == 0 {
		return resource.List{Items: v.now.copies()}
	}

	list := resource.List{Items: []resource.Resource{}}

	if everything(opts) {
		list.Items = make([]resource.Resource, 0, v.Len())
	}

	v.match(opts, func(_ resource.ID, res resource.Resource) bool {
		list.Items = append(list.Items, res.DeepCopy())

		return true
	})

	return list
}

// Lend returns the resource itself, which must not be changed, and whether there is one.
func (v View) Lend(id resource.ID) (resource.Resource, bool) {
	res, ok := v.find(id)
	if !ok {
		return nil, false
	}

	return v.lend(res), true
}

// All yields all resources themselves, which must not be changed, in order of id.
func (v View) All() iter.Seq[resource.Resource] { return v.Match(state.ListOptions{}) }

// Prefix yields the resources themselves, which must not be changed, whose id begins with the prefix, in order of id. It
// looks at no others.
func (v View) Prefix(prefix string) iter.Seq[resource.Resource] {
	return func(yield func(resource.Resource) bool) {
		v.walk(v.now.within([]span{beginning(prefix)}), func(id resource.ID, _ resource.Resource) bool {
			return strings.HasPrefix(id, prefix)
		}, v.lending(yield))
	}
}

// Match yields the resources themselves, which must not be changed, that match the queries, in order of id. They are
// those that List returns copies of. Options that a cache can not serve, see [ServesList], are not looked at.
//
// It looks at few others if the id is matched by a regular expression that fixes how ids begin, such as "^a-", "^(a|b)-"
// or "^a$", or if each of the label queries has a term that is not inverted and few resources match. For the latter a
// label is indexed when it is first asked for, if there are many resources, and for up to 32 labels of a kind.
func (v View) Match(opts state.ListOptions) iter.Seq[resource.Resource] {
	return func(yield func(resource.Resource) bool) { v.match(opts, v.lending(yield)) }
}

// each is what resources are yielded to; it returns false to stop.
type each func(id resource.ID, res resource.Resource) bool

// source yields resources in order of id, until the callback returns false.
type source func(yield each)

func everything(opts state.ListOptions) bool {
	return opts.IDQuery.Regexp == nil && len(opts.LabelQueries) == 0
}

// match yields what matches.
func (v View) match(opts state.ListOptions, yield each) {
	if everything(opts) {
		v.walk(v.now.within([]span{{}}), nil, yield)

		return
	}

	v.walk(v.plan(opts), matcher(opts), yield)
}

// matcher returns what tells whether a resource matches, with the cheaper question first.
func matcher(opts state.ListOptions) each {
	re := opts.IDQuery.Regexp
	byID := func(id resource.ID, _ resource.Resource) bool { return re.MatchString(id) }
	byLabels := func(_ resource.ID, res resource.Resource) bool {
		return opts.LabelQueries.Matches(*res.Metadata().Labels())
	}

	switch {
	case re == nil:
		return byLabels
	case len(opts.LabelQueries) == 0:
		return byID
	default:
		return func(id resource.ID, res resource.Resource) bool { return byLabels(id, res) && byID(id, res) }
	}
}

// missing returns the error for an id.
func (v View) missing(id resource.ID) error {
	return &NotFoundError{Key: reduced.Key{Kind: v.of.kind, ID: id}}
}

// NotFoundError says that a resource is not in the cache. It is a not-found error of the contract, see
// state.IsNotFoundError.
type NotFoundError struct{ Key reduced.Key }

// Error names the resource.
func (e *NotFoundError) Error() string { return fmt.Sprintf("resource %s doesn't exist", e.Key) }

// NotFoundError implements the contract's state.ErrNotFound.
func (*NotFoundError) NotFoundError() {}

// ViewOf returns a view of what a list has returned, for kinds that are not cached. The list must not be changed any more.
func ViewOf(kind reduced.Kind, list resource.List) View {
	var (
		t     tree[resource.Resource]
		lined int
	)

	for _, res := range list.Items {
		id := res.Metadata().ID()
		lined += lines(id)
		t.set(id, res)
	}

	return View{of: &Collection{kind: kind}, run: newRun(), now: &contents{tree: t.freeze(), lined: lined}}
}
