// Package generation owns two facts that the contract does not keep of a resource: how often its spec has changed, and which
// of several lives of one id it is in.
//
// The version of a resource grows with every write: with a finalizer, a label and the begin of its teardown too. Who wants
// to say "this is what was asked for when I looked last" needs a number that moves when what is asked for does. And an id that was
// destroyed and created again begins at version 1 once more, so that a name and a version do not tell the two apart.
//
// [Wrap] puts both into annotations, for the types that it is given, and keeps them right, whoever writes:
//
//	switchyard.run/generation   1 at first, and one more with each change of the spec
//	switchyard.run/uid          a text that no other life has
//
// A caller can neither forge nor drop them. Resources of other types, and those that were created before, have no stamps: their
// [Of] is 0 and their [UID] is empty, and whoever reads them says so and does not guess.
//
// # What it can not do
//
// States compare versions, which begin again with each life. A resource that is destroyed, created and brought to the same version
// between the read and the write of one update has that update written over it: with the spec, the labels, the finalizers and the
// phase of its former life. Wrap finds that out afterwards and gives it stamps of its own, so nobody takes it for the former life;
// what was in it has gone, and so has its teardown if it had begun. Who wants an id to go and come back at that pace gives the new one
// another id.
//
// # What it costs
//
// A read for each update of a stamped type. Nothing else is touched, and nothing is kept in memory. The package starts no
// goroutine.
package generation
