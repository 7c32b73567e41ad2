// Package spans owns how the passes of a running engine become spans of OpenTelemetry, for a host that collects traces anyway.
//
// [Follow] looks at the engine every so often and makes a span of each pass that has ended, at the times at which it was. Each is a
// trace of its own: a pass has several causes or none, and what it causes comes later and is merged with other things, so that there
// is no tree. Instead spans are linked to those of the passes that have written what woke them, and a pass that is made again to
// those of the one before.
//
// # What is remembered
//
// For the links the last writes of each of some thousands of resources, and the last pass of each of as many items; and of passes, those
// that run, and those of the last look: they become spans one look later, when all that had been written before is known.
//
// Follow starts no goroutine: it runs in that of its caller.
package spans
