package incidents_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
)

// changes are things that are not what they were.
var changes = []incident{
	{
		name: "a service that flaps because its template changes",
		root: `Templates\(app/web\) v\d+ → v\d+: spec, from outside`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "TemplateController", from: "Templates", to: "Files"},
				&maker{name: "ServiceController", from: "Files", to: "Services"},
				&maker{name: "ProcessController", from: "Services", to: "Processes"},
			).start()
			w.write("Templates", "motd", "hello")

			for i := range 7 {
				w.write("Templates", "web", fmt.Sprintf("listen 80%02d", i))
				w.passes(10 * time.Minute)
			}

			w.write("Templates", "motd", "good evening")

			return w.why("Processes", "web")
		},
	},
	{
		name: "a chain of four that began outside",
		root: `Orders\(app/7\) v1: created, from outside`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "InvoiceController", from: "Orders", to: "Invoices"},
				&maker{name: "PaymentController", from: "Invoices", to: "Payments"},
				&maker{name: "ShippingController", from: "Payments", to: "Shipments"},
				&maker{name: "MailController", from: "Shipments", to: "Letters"},
			).start()
			w.write("Orders", "6", "a table")
			w.write("Orders", "7", "two chairs")
			w.write("Orders", "8", "a lamp")

			return w.why("Letters", "7")
		},
	},
	{
		name: "something that has gone because its origin was torn down",
		root: `Clusters\(app/one\) .*phase.*, .*from outside`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "ClusterController", from: "Clusters", to: "Machines", holds: true},
				&maker{name: "DiskController", from: "Machines", to: "Disks", holds: true},
			).start()
			w.write("Clusters", "one", "3 nodes")
			w.tearDown("Clusters", "one")

			return w.why("Disks", "one")
		},
	},
	{
		name: "something that somebody outside has changed by hand",
		root: `Files\(app/web\) v1 → v2: spec, from outside`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "TemplateController", from: "Templates", to: "Files"},
				&maker{name: "ServiceController", from: "Files", to: "Services"},
			).start()
			w.write("Templates", "web", "listen 80")

			w.edit("TemplateController", "Files", "web", "listen 666")

			return w.why("Services", "web")
		},
	},
	{
		name: "a file that somebody outside has changed by hand",
		root: `Files\(app/web\) v2: spec, from outside`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "TemplateController", from: "Templates", to: "Files"},
				&maker{name: "ServiceController", from: "Files", to: "Services"},
			).start()
			w.write("Templates", "web", "listen 80")
			w.edit("TemplateController", "Files", "web", "listen 666")

			return w.why("Files", "web")
		},
	},
	{
		name: "something that somebody outside has changed and nobody has read",
		root: `Ports\(app/lan\) v2, from outside`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "SwitchController", from: "Networks", to: "Ports"}).start()
			w.write("Networks", "lan", "10.0.0.0/8")
			w.edit("SwitchController", "Ports", "lan", "closed")

			return w.why("Ports", "lan")
		},
	},
	{
		name: "something that was made outside",
		root: `Templates\(app/web\) v2: spec, from outside`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "TemplateController", from: "Templates", to: "Files"}).start()
			w.write("Templates", "web", "listen 80")
			w.write("Templates", "web", "listen 8080")

			return w.why("Templates", "web")
		},
	},
	{
		name: "one of many that one pass has made",
		root: `Documents\(app/all\) v1: created, from outside`,
		happens: func(w *world) string {
			w.with(&classic{
				name: "FanOutController", inputs: weak("Documents"), outputs: exclusive("Parts"),
				pass: func(ctx context.Context, r controller.Runtime) error {
					if _, err := r.Get(ctx, pointer("Documents", "all")); err != nil {
						return nil // not yet
					}

					for i := range 40 {
						if err := r.Modify(ctx, newThing("Parts", fmt.Sprintf("p%02d", i), ""), func(resource.Resource) error { return nil }); err != nil {
							return err
						}
					}

					return nil
				},
			}).withQueues(&maker{name: "PartController", from: "Parts", to: "Pieces"}).start()
			w.write("Documents", "all", "text")

			return w.why("Pieces", "p39")
		},
	},
	{
		name: "a failure that went by before the change came through",
		root: `Feeds\(app/news\) v1: created, from outside`,
		happens: func(w *world) string {
			n := 0

			w.withQueues(&maker{name: "FetchController", from: "Feeds", to: "Articles", does: func(context.Context, controller.QRuntime, resource.ID) error {
				if n++; n < 4 {
					return errors.New("connection refused")
				}

				return nil
			}}).start()
			w.write("Feeds", "news", "https://news.example")
			w.passes(10 * time.Minute)

			return w.why("Articles", "news")
		},
	},
	{
		name: "a pass that somebody has asked for",
		root: `FetchController for Feeds\(app/news\) was asked for without any change`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "FetchController", from: "Feeds", writes: "Articles", does: sets("Articles", counts)}).start()
			w.write("Feeds", "news", "https://news.example")
			require.NoError(w.t, w.Trigger("FetchController", pointer("Feeds", "news")))
			w.passes(time.Second)

			return w.whyController("FetchController")
		},
	},
	{
		name: "what was there when the engine was started",
		root: `SwitchController for Networks\(app/lan\) was started`,
		happens: func(w *world) string {
			w.write("Networks", "lan", "10.0.0.0/8")
			w.withQueues(&maker{name: "SwitchController", from: "Networks", to: "Ports"}).start()

			return w.why("Ports", "lan")
		},
	},
}
