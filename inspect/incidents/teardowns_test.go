package incidents_test

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/state"
)

// until returns something to do that asks again as long as a resource is there.
func until(kind resource.Type) func(context.Context, controller.QRuntime, resource.ID) error {
	return func(ctx context.Context, r controller.QRuntime, id resource.ID) error {
		if _, err := r.Get(ctx, pointer(kind, id)); state.IsNotFoundError(err) {
			return nil
		} else if err != nil {
			return err
		}

		return controller.NewRequeueInterval(10 * time.Second)
	}
}

// teardowns are things that do not go away.
var teardowns = []incident{
	{
		name: "a teardown that a failing controller holds up",
		root: `SwitchController for Networks\(app/lan\) fails: the switch at 192.0.2.1 does not answer`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "SwitchController", from: "Networks", to: "Ports", holds: true, undoes: fails("the switch at 192.0.2.1 does not answer")}).start()
			w.write("Networks", "lan", "10.0.0.0/8")
			w.write("Networks", "dmz", "10.1.0.0/16")
			w.tearDown("Networks", "lan")
			w.passes(time.Minute)

			return w.blocked("Networks", "lan")
		},
	},
	{
		name: "a teardown with a finalizer that nobody removes",
		root: `the finalizer "FirewallController" on Networks\(app/lan\) is orphaned`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "SwitchController", from: "Networks", to: "Ports", holds: true}).start()
			w.write("Networks", "lan", "10.0.0.0/8")
			w.hold("Networks", "lan", "FirewallController")
			w.tearDown("Networks", "lan")

			return w.blocked("Networks", "lan")
		},
	},
	{
		name: "a teardown that waits for a child which another controller holds",
		root: `VirtualMachineController for Machines\(app/one\) fails: the hypervisor refuses`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "ClusterController", from: "Clusters", to: "Machines", holds: true},
				&maker{name: "VirtualMachineController", from: "Machines", to: "VirtualMachines", holds: true, undoes: fails("the hypervisor refuses")},
				&maker{name: "InventoryController", from: "Machines", to: "Entries", holds: true},
			).start()
			w.write("Clusters", "one", "3 nodes")
			w.tearDown("Clusters", "one")
			w.passes(time.Minute)

			return w.blocked("Clusters", "one")
		},
	},
	{
		name: "a teardown that waits for a grandchild with a finalizer that nobody removes",
		root: `the finalizer "BackupController" on Disks\(app/one\) is orphaned`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "ClusterController", from: "Clusters", to: "Machines", holds: true},
				&maker{name: "DiskController", from: "Machines", to: "Disks", holds: true},
			).start()
			w.write("Clusters", "one", "3 nodes")
			w.hold("Disks", "one", "BackupController")
			w.tearDown("Clusters", "one")

			return w.blocked("Clusters", "one")
		},
	},
	{
		name: "two teardowns that wait for each other",
		root: `they wait for each other: .*(Volumes\(app/data\).*Mounts\(app/data\)|Mounts\(app/data\).*Volumes\(app/data\))`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "MountController", from: "Volumes", to: "Mounts", holds: true},
				&maker{name: "UnmountController", from: "Mounts", needs: []resource.Type{"Volumes"}, holds: true, undoes: until("Volumes")},
			).start()
			w.write("Volumes", "data", "/dev/sdb")
			w.tearDown("Volumes", "data")
			w.passes(time.Minute)

			return w.blocked("Volumes", "data")
		},
	},
	{
		name: "a teardown whose owner has gone",
		root: `Leases\(app/eth0\) belongs to LeaseController, which is not registered`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "AddressController", from: "Leases", to: "Addresses", holds: true}).start()
			w.own("LeaseController", "Leases", "eth0")

			_, err := w.state.Teardown(w.t.Context(), pointer("Leases", "eth0"), state.WithTeardownOwner("LeaseController"))
			if err != nil {
				w.t.Fatal(err)
			}

			w.passes(time.Second)

			return w.blocked("Leases", "eth0")
		},
	},
	{
		name: "a teardown that nobody completes",
		root: `Networks\(app/lan\) is in teardown, and all have let go of it; it belongs to no controller`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "SwitchController", from: "Networks", to: "Ports", holds: true}).start()
			w.write("Networks", "lan", "10.0.0.0/8")
			w.tearDown("Networks", "lan")

			return w.blocked("Networks", "lan")
		},
	},
	{
		name: "a controller that has no way to tell what it waits for",
		root: `KeyController keeps its finalizer on Keys\(app/root\)`,
		happens: func(w *world) string {
			w.withQueues(&maker{
				name: "KeyController", from: "Keys", holds: true,
				undoes: func(context.Context, controller.QRuntime, resource.ID) error {
					return controller.NewRequeueInterval(time.Hour)
				},
			}).start()
			w.write("Keys", "root", "secret")
			w.tearDown("Keys", "root")

			return w.blocked("Keys", "root")
		},
	},
}
