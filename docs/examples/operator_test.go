package examples_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/resource/typed"
	"github.com/cosi-project/runtime/pkg/state"

	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/controllertest"
	"github.com/switchyard-run/switchyard/generation"
	"github.com/switchyard-run/switchyard/operator"
)

const (
	hostStatusType = "HostStatuses.example.dev"
	zoneType       = "Zones.example.dev"
)

type hostStatusDefinition struct{}

func (hostStatusDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: hostStatusType, DefaultNamespace: namespace}
}

// HostStatus says of a host what has come of it.
type HostStatus = operator.StatusResource[Published, hostStatusDefinition]

// Published is what a status says beside conditions.
type Published struct{ Line string }

// DeepCopy returns a copy.
func (p Published) DeepCopy() Published { return p }

type zoneDefinition struct{}

func (zoneDefinition) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: zoneType, DefaultNamespace: namespace}
}

// Zone has hosts, whose names end in its suffix.
type Zone = typed.Resource[zone, zoneDefinition]

type zone struct {
	Suffix string
	Hosts  []resource.ID
}

func (z zone) DeepCopy() zone {
	z.Hosts = slices.Clone(z.Hosts)

	return z
}

func newZone(id resource.ID, spec zone) *Zone {
	return typed.NewResource[zone, zoneDefinition](resource.NewMetadata(namespace, zoneType, id, resource.VersionUndefined), spec)
}

// keeper keeps a DNS record for every host.
func keeper() *operator.Controller[*Host] {
	c := operator.For[*Host]("keeper")
	operator.Owns[*Record](c)

	return c.Reconcile(func(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
		return operator.EnsureSpec(ctx, c, &Record{}, text{host.Metadata().ID() + " A " + host.TypedSpec().Value})
	})
}

func Example_operator() {
	app := operator.NewApp(operator.AppConfig{}) // a state in memory, and an engine over it
	must(app.Include(keeper()))

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	st := app.State()

	go func() { ended <- app.Run(ctx) }() // until the context ends, or SIGINT or SIGTERM comes

	must(st.Create(ctx, newHost("web", "192.0.2.7")))

	record, err := st.WatchFor(ctx, newRecord("web").Metadata(), state.WithEventTypes(state.Created))
	must(err)
	fmt.Println(record.(*Record).TypedSpec().Value)

	_, err = st.Teardown(ctx, newHost("web", "").Metadata())
	must(err)

	_, err = st.WatchFor(ctx, newHost("web", "").Metadata(), state.WithEventTypes(state.Destroyed))
	must(err)

	_, err = st.Get(ctx, newRecord("web").Metadata())
	fmt.Println("the record has gone before its host:", state.IsNotFoundError(err))

	stop()
	must(<-ended)

	// Output:
	// web A 192.0.2.7
	// the record has gone before its host: true
}

// publish says what may come of a pass.
func publish(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
	address := host.TypedSpec().Value
	if address == "" {
		return operator.Wait("AddressMissing", operator.After(time.Minute), operator.Message("give it an address"))
	}

	if _, err := netip.ParseAddr(address); err != nil {
		return operator.Terminal(fmt.Errorf("the address: %w", err))
	}

	if err := operator.EnsureSpec(ctx, c, &Record{}, text{host.Metadata().ID() + " A " + address}); err != nil {
		return err
	}

	return operator.RequeueAfter(time.Hour)
}

// zoned gives each record the suffix of the zone that its host is in.
func zoned() *operator.Controller[*Host] {
	c := operator.For[*Host]("zoned")
	operator.Owns[*Record](c)
	operator.Watch(c, func(zone *Zone) []resource.ID { return zone.TypedSpec().Hosts })

	return c.Reconcile(func(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
		zones, err := operator.CachedList[*Zone](ctx, c)
		if err != nil {
			return err
		}

		name := host.Metadata().ID()

		for _, zone := range zones {
			if slices.Contains(zone.TypedSpec().Hosts, host.Metadata().ID()) {
				name += "." + zone.TypedSpec().Suffix
			}
		}

		return operator.EnsureSpec(ctx, c, &Record{}, text{name + " A " + host.TypedSpec().Value})
	})
}

// labelled is the same for hosts that name their zone, with a label.
func labelled() *operator.Controller[*Host] {
	c := operator.For[*Host]("labelled")
	operator.Owns[*Record](c)
	operator.WatchNamed[*Zone](c, func(host *Host) []resource.ID {
		zone, _ := host.Metadata().Labels().Get("zone")

		return []resource.ID{zone}
	})

	return c.Reconcile(func(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
		id, _ := host.Metadata().Labels().Get("zone")

		zone, err := operator.Get[*Zone](ctx, c, id)
		if state.IsNotFoundError(err) {
			return operator.Wait("ZoneMissing", operator.Message("there is no zone %q", id))
		}

		if err != nil {
			return err
		}

		name := host.Metadata().ID() + "." + zone.TypedSpec().Suffix

		return operator.EnsureSpec(ctx, c, &Record{}, text{name + " A " + host.TypedSpec().Value})
	})
}

// many keeps a record for each address of a host, and none for those that it has no more.
func many() *operator.Controller[*Host] {
	c := operator.For[*Host]("many")
	operator.Owns[*Record](c)

	return c.Reconcile(func(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
		var keep []resource.ID

		for _, address := range strings.Fields(host.TypedSpec().Value) {
			record := newRecord(host.Metadata().ID() + "-" + address)
			keep = append(keep, record.Metadata().ID())

			if err := operator.EnsureSpec(ctx, c, record, text{host.Metadata().ID() + " A " + address}); err != nil {
				return err
			}
		}

		return operator.Prune[*Record](ctx, c, keep...)
	})
}

// patched merges a document into what is there.
func patched(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
	return operator.EnsureJSON(ctx, c, &Record{}, map[string]any{"Value": host.TypedSpec().Value})
}

// touched changes one thing of a child, and leaves all others as they are.
func touched(ctx context.Context, host *Host, c *operator.Context[*Host]) error {
	return operator.Ensure(ctx, c, &Record{}, func(record *Record) {
		record.Metadata().Labels().Set("address", host.TypedSpec().Value)
	})
}

// trimmed writes each host as it should have been written, if it is not.
func trimmed() *operator.Controller[*Host] {
	return operator.For[*Host]("trimmed").Mutates().
		Reconcile(func(_ context.Context, host *Host, c *operator.Context[*Host]) error {
			host.TypedSpec().Value = strings.TrimSpace(host.TypedSpec().Value)

			return c.Save(host)
		})
}

// fronts are the hosts with a label.
func fronts() *operator.Controller[*Host] {
	c := keeper().Select(resource.LabelEqual("tier", "front"))
	operator.Status[Published, hostStatusDefinition](c)

	return c
}

// noted tells people what it does.
func noted() *operator.Controller[*Host] {
	c := operator.For[*Host]("noted")
	status := operator.Status[Published, hostStatusDefinition](c)

	return c.Reconcile(func(_ context.Context, host *Host, c *operator.Context[*Host]) error {
		line := host.Metadata().ID() + " A " + host.TypedSpec().Value
		if line != status.Get(c).Line {
			c.Event("Moved", "it is at %s now", host.TypedSpec().Value)
		}

		status.Set(c, func(p *Published) { p.Line = line })

		addr, err := netip.ParseAddr(host.TypedSpec().Value)
		if err != nil || addr.Is6() {
			c.Condition("Reachable", operator.False, "NotIPv4", "old clients can not reach it")
			c.Warn("NotIPv4", "old clients can not reach %s", host.TypedSpec().Value)
		} else {
			c.Condition("Reachable", operator.True, "IPv4", "")
		}

		return nil
	})
}

// operated runs a script with a controller, in a world with generations.
func operated(t *testing.T, define func() *operator.Controller[*Host], script controllertest.Script) {
	t.Helper()

	controllertest.Run(t, func(w *controllertest.World) {
		w.Wrap(func(core state.CoreState) state.CoreState {
			return generation.Wrap(core, generation.Config{Types: []resource.Type{hostType}})
		})
		w.Start(func(e controller.Engine) error { return operator.Register(e, define()) })
		script(w)
	})
}

func lineOf(w *controllertest.World, id resource.ID) string {
	return controllertest.Get[*Record](w, newRecord(id).Metadata()).TypedSpec().Value
}

func statusOf(w *controllertest.World, id resource.ID) *operator.StatusSpec[Published] {
	return controllertest.Get[*HostStatus](w, resource.NewMetadata(namespace, hostStatusType, id, resource.VersionUndefined)).TypedSpec()
}

func TestOutcomesOfAPass(t *testing.T) {
	define := func() *operator.Controller[*Host] {
		c := operator.For[*Host]("publisher")
		operator.Status[Published, hostStatusDefinition](c)
		operator.Owns[*Record](c)

		return c.Reconcile(publish)
	}

	operated(t, define, func(w *controllertest.World) {
		w.Create(newHost("good", "192.0.2.7"), newHost("empty", ""), newHost("bad", "here"))
		w.Settle()
		require.Equal(w, "good A 192.0.2.7", lineOf(w, "good"))
		require.True(w, statusOf(w, "good").Conditions.Holds(operator.Ready))

		empty, _ := statusOf(w, "empty").Conditions.Get(operator.Ready)
		require.Equal(w, "AddressMissing: give it an address", empty.Reason+": "+empty.Message)

		bad, _ := statusOf(w, "bad").Conditions.Get(operator.Ready)
		require.Equal(w, "Terminal: Reconcile: Terminal", bad.Reason+": "+bad.Message, "nothing of the text")
	})
}

func TestFormerHostsOfAZone(t *testing.T) {
	operated(t, zoned, func(w *controllertest.World) {
		w.Create(newHost("web", "192.0.2.7"), newHost("db", "192.0.2.8"), newZone("prod", zone{"example.com", []resource.ID{"web"}}))
		w.Settle()
		require.Equal(w, "web.example.com A 192.0.2.7", lineOf(w, "web"))

		controllertest.Update(w, newZone("prod", zone{}).Metadata(), func(z *Zone) { z.TypedSpec().Hosts = []resource.ID{"db"} })
		w.Settle()
		require.Equal(w, "web A 192.0.2.7", lineOf(w, "web"), "the zone does not name it any more, and it was woken")
		require.Equal(w, "db.example.com A 192.0.2.8", lineOf(w, "db"))
	})
}

func TestHostsThatNameTheirZone(t *testing.T) {
	operated(t, labelled, func(w *controllertest.World) {
		web := newHost("web", "192.0.2.7")
		web.Metadata().Labels().Set("zone", "prod")
		w.Create(web)
		w.Settle()
		controllertest.Gone(w, newRecord("web").Metadata())

		w.Create(newZone("prod", zone{Suffix: "example.com"}))
		w.Settle()
		require.Equal(w, "web.example.com A 192.0.2.7", lineOf(w, "web"))
	})
}

func TestOneChildForEachAddress(t *testing.T) {
	operated(t, many, func(w *controllertest.World) {
		w.Create(newHost("web", "192.0.2.7 192.0.2.8"))
		w.Settle()
		require.Len(w, controllertest.List[*Record](w, newRecord("").Metadata()), 2)

		controllertest.Update(w, newHost("web", "").Metadata(), func(host *Host) { host.TypedSpec().Value = "192.0.2.8" })
		w.Settle()
		require.Len(w, controllertest.List[*Record](w, newRecord("").Metadata()), 1)
		require.Equal(w, "web A 192.0.2.8", lineOf(w, "web-192.0.2.8"))
	})
}

func TestOtherFormsOfEnsure(t *testing.T) {
	for name, handle := range map[string]operator.Handler[*Host]{"patched": patched, "touched": touched} {
		t.Run(name, func(t *testing.T) {
			define := func() *operator.Controller[*Host] {
				c := operator.For[*Host](name)
				operator.Owns[*Record](c)

				return c.Reconcile(handle)
			}

			operated(t, define, func(w *controllertest.World) {
				w.Create(newHost("web", "192.0.2.7"))
				w.Settle()

				record := controllertest.Get[*Record](w, newRecord("web").Metadata())
				label, _ := record.Metadata().Labels().Get("address")
				require.Equal(w, "192.0.2.7", record.TypedSpec().Value+label)
			})
		})
	}
}

func TestHostsAreTrimmed(t *testing.T) {
	operated(t, trimmed, func(w *controllertest.World) {
		w.Create(newHost("web", " 192.0.2.7 "))
		w.Settle()
		require.Equal(w, "192.0.2.7", controllertest.Get[*Host](w, newHost("web", "").Metadata()).TypedSpec().Value)
	})
}

func TestHostsThatAreNotSelectedAnyMore(t *testing.T) {
	operated(t, fronts, func(w *controllertest.World) {
		web := newHost("web", "192.0.2.7")
		web.Metadata().Labels().Set("tier", "front")
		w.Create(web, newHost("db", "192.0.2.8"))
		w.Settle()
		require.Len(w, controllertest.List[*Record](w, newRecord("").Metadata()), 1)

		controllertest.Update(w, web.Metadata(), func(host *Host) { host.Metadata().Labels().Delete("tier") })
		w.Settle()
		require.Equal(w, "web A 192.0.2.7", lineOf(w, "web"), "what was made stays")

		ready, _ := statusOf(w, "web").Conditions.Get(operator.Ready)
		require.Equal(w, operator.Unknown, ready.Status)
		require.Equal(w, "OutOfScope", ready.Reason)

		w.Destroy(web.Metadata())
		w.Settle()
		controllertest.Gone(w, newRecord("web").Metadata())
	})
}

func TestNotesForPeople(t *testing.T) {
	operated(t, noted, func(w *controllertest.World) {
		w.Create(newHost("web", "2001:db8::7"))
		w.Settle()

		var told []string
		for _, event := range controllertest.List[*operator.EventResource](w, resource.NewMetadata(namespace, operator.EventType, "", resource.VersionUndefined)) {
			told = append(told, string(event.TypedSpec().Severity)+" "+event.TypedSpec().Reason)
		}

		require.ElementsMatch(w, []string{"Normal Moved", "Warning NotIPv4", "Normal Reconciled"}, told)
		require.Equal(w, "web A 2001:db8::7", statusOf(w, "web").Data.Line)
		require.False(w, statusOf(w, "web").Conditions.Holds("Reachable"))
	})
}
