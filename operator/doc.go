// Package operator owns what controllers have in common that bring something about for each resource of a kind: finalizers,
// status and conditions, children, retries, events. What is left to write is what is special about one:
//
//	c := operator.For[*Settings]("settings")
//	operator.Owns[*ConfigMap](c)
//
//	c.Reconcile(func(ctx context.Context, settings *Settings, c *operator.Context[*Settings]) error {
//		return operator.Ensure(ctx, c, &ConfigMap{}, func(config *ConfigMap) {
//			config.TypedSpec().Data = map[string]string{"message": settings.TypedSpec().Message}
//		})
//	})
//
// [For] begins a definition. What is said of it is checked as a whole by [Controller.Build], which returns an ordinary
// controller of the contract, or by [Register], which registers several with an engine and what they need beside them. [App]
// is a whole program.
//
// # What runs
//
// A pass looks at one primary as the state has it right now, puts the controller's finalizer on it, and calls the handler:
// one ([Controller.Reconcile]), or several in order ([Controller.Stage], [Controller.Scope]), or one of several
// ([Controller.Case]). What the handlers return is judged by the package reconcile: nil has done it, [Wait] waits for
// something, other errors are tried again after a backoff, and [Terminal] ones once something changes. Then the status is
// written, if it is another than before, and events are recorded. A primary that is torn down is cleaned up instead: the
// handler of [Controller.Finalize], the children, the status, and the finalizer last.
//
// Nothing about a pass is kept for the next: each begins from what is there.
//
// # Goroutines and memory
//
// The package starts none; all of it runs in workers of the engine, and [App.Run] in its caller. For each controller it
// remembers which primaries were mapped to from what is watched, in which life each primary with children was seen last, what
// stands in the place of a child and is none, which children each primary may have, and which events were recorded in the last minute.
package operator
