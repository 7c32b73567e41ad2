package incidents_test

import (
	"context"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
)

// disabled are controllers that do nothing at all.
var disabled = []incident{
	{
		name: "a kind that can not be watched",
		root: `app/Disks can not be watched, which DiskController needs: .*permission denied: the token of the host has expired`,
		happens: func(w *world) string {
			w.doors.breaks("Disks")
			w.withQueues(&maker{name: "DiskController", from: "Disks", to: "Partitions"}).start()
			w.write("Disks", "sda", "1 TB")
			w.passes(time.Minute)

			return w.blocked("Partitions", "sda")
		},
	},
	{
		name: "a controller that was never started",
		root: `DiskController .*not.* started|the contents of app/Disks have not come`,
		happens: func(w *world) string {
			w.doors.silences("Disks")
			w.withQueues(&maker{name: "DiskController", from: "Disks", to: "Partitions"}).start()
			w.write("Disks", "sda", "1 TB")
			w.passes(time.Minute)

			return w.blockedController("DiskController")
		},
	},
	{
		name: "an engine that was never started",
		root: `the engine does not run`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "DiskController", from: "Disks", to: "Partitions"})
			w.write("Disks", "sda", "1 TB")

			return w.blockedController("DiskController")
		},
	},
	{
		name: "an engine that was stopped",
		root: `the engine does not run`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "DiskController", from: "Disks", to: "Partitions"}).start()
			w.write("Disks", "sda", "1 TB")
			w.end()
			w.write("Disks", "sdb", "2 TB")

			return w.blocked("Partitions", "sdb")
		},
	},
	{
		name: "a pass that does not come back",
		root: `ProbeController is stuck: .*Targets\(app/db\).* has not come back for`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "ProbeController", from: "Targets", to: "Probes", does: func(ctx context.Context, _ controller.QRuntime, _ resource.ID) error {
				<-ctx.Done()

				return ctx.Err()
			}}).start()
			w.write("Targets", "db", "192.0.2.5")
			w.write("Targets", "web", "192.0.2.6")
			w.passes(5 * time.Minute)

			return w.blocked("Probes", "web")
		},
	},
	{
		name: "a classic controller that does not come back",
		root: `ProbeController is stuck: .* has not come back for`,
		happens: func(w *world) string {
			w.with(&classic{
				name: "ProbeController", inputs: weak("Targets"), outputs: exclusive("Probes"),
				pass: func(ctx context.Context, _ controller.Runtime) error {
					<-ctx.Done()

					return nil
				},
			}).start()
			w.write("Targets", "db", "192.0.2.5")
			w.passes(5 * time.Minute)

			return w.blocked("Probes", "db")
		},
	},
}
