// Package simulation tries the engine out on worlds that nobody has thought of: random graphs of controllers of every form,
// under random writes and faults, each a run of package controllertest.
//
// What a world has to end in is known from a plain model, which computes it from the sources alone. On the way there the
// controllers check what the engine promises them: that no resource is in two passes of one controller at once, that reads
// never go back, and that they show what the reader has written.
package simulation
