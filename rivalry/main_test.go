package rivalry_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"

	"github.com/switchyard-run/switchyard/reduced"
	"github.com/switchyard-run/switchyard/rivalry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is a resource with one number, which is written as any spec is.
type thing = typed.Resource[spec, extension]

type spec struct{ Size int }

func (s spec) DeepCopy() spec { return s }

type extension struct{}

func (extension) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: "Things.test.switchyard.run", DefaultNamespace: "n"}
}

func newThing(id resource.ID, size int) *thing {
	return typed.NewResource[spec, extension](resource.NewMetadata("n", "Things.test.switchyard.run", id, resource.VersionUndefined), spec{size})
}

// bench is a finder on a fake clock, with what it has found.
type bench struct {
	*rivalry.Finder

	clock *clockwork.FakeClock
	found []rivalry.Rivalry
	woken int

	// versions are those of the resources.
	versions map[resource.ID]int
	writers  map[string]*rivalry.Writer
}

func newBench() *bench {
	b := &bench{clock: clockwork.NewFakeClock(), versions: map[resource.ID]int{}, writers: map[string]*rivalry.Writer{}}
	b.Finder = rivalry.NewFinder(rivalry.Config{
		Clock: b.clock, Epoch: b.clock.Now(),
		Wake:  func() { b.woken++ },
		Found: func(found rivalry.Rivalry) { b.found = append(b.found, found) },
	})
	b.Open()

	return b
}

// writer returns the writer of the name.
func (b *bench) writer(name string) *rivalry.Writer {
	if b.writers[name] == nil {
		b.writers[name] = b.Enter(name)
	}

	return b.writers[name]
}

// write has a controller write a resource as it is to be, and returns what the watch shows of it.
func (b *bench) write(name string, res resource.Resource) reduced.Metadata {
	id := res.Metadata().ID()

	w := b.writer(name).Write(res.Metadata())
	defer w.End()

	w.OnTopOf(version(b.versions[id]))
	b.versions[id]++
	res.Metadata().SetVersion(version(b.versions[id]))
	w.Made(res)

	return reduced.Of(res, false)
}

// destroy has a controller destroy a resource.
func (b *bench) destroy(name string, id resource.ID) reduced.Metadata {
	res := newThing(id, 0)
	res.Metadata().SetVersion(version(b.versions[id]))

	w := b.writer(name).Write(res.Metadata())
	defer w.End()

	w.Ending()
	w.Ended()

	b.versions[id] = 0

	return reduced.Of(res, true)
}

// fight has two controllers undo each other until that is found, or so many times, and returns how often they have written.
func (b *bench) fight(id resource.ID, most int, pause time.Duration) (writes int) {
	for b.Len() == 0 && writes < most {
		b.write([]string{"left", "right"}[writes%2], newThing(id, writes%2))
		b.clock.Advance(pause)

		writes++
	}

	return writes
}

func version(n int) resource.Version {
	v, err := resource.ParseVersion(strconv.Itoa(n))
	if err != nil {
		panic(err)
	}

	return v
}
