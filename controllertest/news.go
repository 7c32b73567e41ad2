package controllertest

import (
	"strconv"
	"strings"
	"sync"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// news is what the engine was told by its watches, so that a trace can say why a pass runs.
type news struct {
	// mu guards the fields below.
	mu      sync.Mutex
	items   []item
	latest  map[string]int    // by resource, the number of its newest item
	writers map[string]string // by resource and version, who has written it, and by resource, who has destroyed it
	seen    map[string]int    // by controller and resource, how many items there were at the last pass
	because map[string]string // by controller and resource, what it was mapped from since the last pass
}

type item struct {
	about resource.Pointer
	text  string
}

func newNews() *news {
	return &news{latest: map[string]int{}, writers: map[string]string{}, seen: map[string]int{}, because: map[string]string{}}
}

func place(ptr resource.Pointer) string {
	return ptr.Namespace() + "\x00" + ptr.Type() + "\x00" + ptr.ID()
}

func versioned(ptr resource.Pointer, version resource.Version) string {
	return place(ptr) + "\x00" + version.String()
}

// wrote notes who has written a version of a resource.
func (n *news) wrote(ptr resource.Pointer, version resource.Version, by string) {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.writers[versioned(ptr, version)] = by
}

// destroyed notes who has destroyed a resource. What was destroyed before the news of it is out, and again by another one, counts
// as the other's.
func (n *news) destroyed(ptr resource.Pointer, by string) {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.writers[place(ptr)] = by
}

// told notes an event that is passed on to the engine. It returns what it says, and who has written it.
func (n *news) told(event state.Event) (text, by string) {
	n.mu.Lock()
	defer n.mu.Unlock()

	md := event.Resource.Metadata()
	text = short(md) + " " + strings.ToLower(event.Type.String()) + " v" + md.Version().String()

	by = n.writers[versioned(md, md.Version())]
	if event.Type == state.Destroyed {
		by = n.writers[place(md)]
	}

	if by != "" {
		text += " by " + by
	}

	n.items = append(n.items, item{about: md, text: text})
	n.latest[place(md)] = len(n.items)

	return text, by
}

// since returns the news after the number that concern somebody, and the number of the last one.
func (n *news) since(number int, concerns func(resource.Pointer) bool) (why string, last int) {
	n.mu.Lock()
	defer n.mu.Unlock()

	const most = 3

	var (
		texts []string
		more  int
	)

	for _, item := range n.items[min(number, len(n.items)):] {
		switch {
		case !concerns(item.about):
		case len(texts) < most:
			texts = append(texts, item.text)
		default:
			more++
		}
	}

	why = strings.Join(texts, "; ")
	if more > 0 {
		why += "; and " + strconv.Itoa(more) + " more"
	}

	return why, len(n.items)
}

// about returns what has happened to a resource since the controller's last pass on it.
func (n *news) about(controller string, ptr resource.Pointer) string {
	n.mu.Lock()
	defer n.mu.Unlock()

	key := controller + "\x00" + place(ptr)
	latest := n.latest[place(ptr)]
	why := n.because[key]

	delete(n.because, key)

	if latest > n.seen[key] {
		if why != "" {
			why += "; "
		}

		why += n.items[latest-1].text
	}

	n.seen[key] = len(n.items)

	if why == "" {
		return "nothing new: a retry, a time that was asked for, or a start"
	}

	return why
}

// mapped notes that a mapping has queued a resource for the controller.
func (n *news) mapped(controller string, ptr resource.Pointer, from, why string) {
	n.mu.Lock()
	defer n.mu.Unlock()

	n.because[controller+"\x00"+place(ptr)] = "mapped from " + from + " (" + why + ")"
}
