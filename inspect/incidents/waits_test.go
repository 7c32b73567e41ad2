package incidents_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"
)

// deployer makes Deployments of Apps, which need a Secret.
func deployer() *maker {
	return &maker{name: "DeployController", from: "Apps", to: "Deployments", needs: []resource.Type{"Secrets"}, asks: 30 * time.Second}
}

// vault makes Secrets of Requests.
func vault(does func(context.Context, controller.QRuntime, resource.ID) error) *maker {
	return &maker{name: "VaultController", from: "Requests", to: "Secrets", does: does}
}

// waits are things that do not come about.
var waits = []incident{
	{
		name: "an item that waits for an input which nobody makes",
		root: `Secrets\(app/web\) does not exist, and no controller writes Secrets`,
		happens: func(w *world) string {
			w.withQueues(deployer()).start()
			w.write("Apps", "web", "nginx")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "an item that waits without asking for an input which nobody makes",
		root: `Secrets\(app/web\) does not exist, and no controller writes Secrets`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "DeployController", from: "Apps", to: "Deployments", needs: []resource.Type{"Secrets"}}).start()
			w.write("Apps", "web", "nginx")

			return w.blocked("Apps", "web")
		},
	},
	{
		name: "a missing input whose own input is missing",
		root: `Requests\(app/web\) does not exist, and no controller writes Requests`,
		happens: func(w *world) string {
			w.withQueues(deployer(), vault(nil)).start()
			w.write("Apps", "web", "nginx")
			w.write("Requests", "mail", "password")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "a missing input whose writer is paused",
		root: `VaultController is paused since`,
		happens: func(w *world) string {
			w.withQueues(deployer(), vault(nil)).start()
			require.NoError(w.t, w.Pause(w.t.Context(), "VaultController"))
			w.write("Requests", "web", "password")
			w.write("Apps", "web", "nginx")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "a missing input whose writer has finished",
		root: `SecretLoader has finished: its Run has returned without an error`,
		happens: func(w *world) string {
			w.withQueues(deployer()).with(&classic{
				name: "SecretLoader", outputs: exclusive("Secrets"),
				run: func(context.Context, controller.Runtime) error { return nil },
			}).start()
			w.write("Apps", "web", "nginx")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "a missing input whose writer fails",
		root: `VaultController for Requests\(app/web\) fails: the vault is sealed`,
		happens: func(w *world) string {
			w.withQueues(deployer(), vault(fails("the vault is sealed"))).start()
			w.write("Requests", "web", "password")
			w.write("Apps", "web", "nginx")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "a missing input whose writer panics",
		root: `VaultController for Requests\(app/web\) fails: panic: assignment to entry in nil map`,
		happens: func(w *world) string {
			w.withQueues(deployer(), vault(func(context.Context, controller.QRuntime, resource.ID) error {
				panic("assignment to entry in nil map")
			})).start()
			w.write("Requests", "web", "password")
			w.write("Apps", "web", "nginx")
			w.passes(time.Minute)

			return w.blocked("Deployments", "web")
		},
	},
	{
		name: "a missing input that comes from far away",
		root: `VaultController for Requests\(app/web\) fails: the vault is sealed`,
		happens: func(w *world) string {
			w.withQueues(
				deployer(), vault(fails("the vault is sealed")),
				&maker{name: "BalancerController", from: "Deployments", to: "Balancers"},
				&maker{name: "RouteController", from: "Routes", to: "Rules", needs: []resource.Type{"Balancers"}},
			).start()
			w.write("Requests", "web", "password")
			w.write("Apps", "web", "nginx")
			w.write("Routes", "web", "/")
			w.passes(time.Minute)

			return w.blocked("Rules", "web")
		},
	},
	{
		name: "a condition that does not hold far away",
		root: `Endpoints\(app/web\) says: Reachable is False, Timeout: 192.0.2.7 does not answer`,
		happens: func(w *world) string {
			w.withQueues(
				&maker{name: "ServiceController", from: "Services", to: "Backends", needs: []resource.Type{"Endpoints"}, asks: time.Minute},
				&maker{name: "BalancerController", from: "Sites", to: "Balancers", needs: []resource.Type{"Backends"}, asks: time.Minute},
			).start()

			endpoint := newThing("Endpoints", "web", "192.0.2.7")
			endpoint.spec.Conditions = []condition{{"Reachable", "False", "Timeout", "192.0.2.7 does not answer"}}
			require.NoError(w.t, w.state.Create(w.t.Context(), endpoint))
			w.write("Services", "web", "http")
			w.write("Sites", "web", "www")
			w.passes(time.Minute)

			return w.blocked("Balancers", "web")
		},
	},
	{
		name: "a backlog behind a slow worker",
		root: `BuildController has \d+ items waiting, the oldest for`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "BuildController", from: "Commits", to: "Images", does: takes(20 * time.Second)}).start()

			for i := range 50 {
				require.NoError(w.t, w.state.Create(w.t.Context(), newThing("Commits", fmt.Sprintf("c%02d", i), "fix")))
			}

			w.passes(time.Minute)

			return w.blocked("Images", "c42")
		},
	},
	{
		name: "a classic controller that fails",
		root: `ResolverController fails, and is tried again \(failure \d+\): no name servers are configured`,
		happens: func(w *world) string {
			w.with(&classic{
				name: "ResolverController", inputs: weak("Links"), outputs: exclusive("Resolvers"),
				pass: func(context.Context, controller.Runtime) error { return fmt.Errorf("no name servers are configured") },
			}).start()
			w.write("Links", "eth0", "up")
			w.passes(time.Minute)

			return w.blocked("Resolvers", "resolvers")
		},
	},
	{
		name: "a controller that reads what it has not declared",
		root: `AuditController for Apps\(app/web\) fails: .*Users`,
		happens: func(w *world) string {
			w.withQueues(&maker{name: "AuditController", from: "Apps", to: "Audits", does: func(ctx context.Context, r controller.QRuntime, id resource.ID) error {
				_, err := r.Get(ctx, pointer("Users", id))

				return err
			}}).start()
			w.write("Apps", "web", "nginx")

			return w.blockedController("AuditController")
		},
	},
}
