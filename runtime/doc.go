// Package runtime owns the engine: registration, the watches, the two-stage pipeline between them and the controllers,
// and the life of all of it.
//
// # Pipeline
//
// One aggregated watch per namespace and type feeds the intake (stage 1), which reduces each event to its metadata,
// brings the cache up to date, and merges changes of one resource into one entry of an ordered set. The delivery
// (stage 2) takes the whole set at once and hands each entry to the controllers that depend on it. Neither stage waits
// for a controller: a wakeup is a flag, an item is an entry in a queue.
//
//   - What is coalesced: changes of one resource that nobody has been told of yet. The last state wins; that it was
//     destroyed in between is kept.
//   - What order survives: keys are delivered in the order in which they first became dirty, and of one key never an
//     older state after a newer one. Between kinds there is no order.
//   - What is held back: what controllers that keep undoing each other do to a resource, from those controllers, for half a
//     minute at most. What is held is merged, and told before anything newer is.
//   - Who may block whom: a slow state delays its own kind, a slow controller itself.
//
// # Goroutines
//
// Run starts one for delivery, one for each watched kind, another while that is audited, and those of the adapters, and
// returns when all have ended. Before Run there are none.
package runtime
