// Package live owns how a running engine is watched: an overview and then what changes, with rates, and the passes as they end.
//
// A [Hub] looks at the engine once in a while, in one goroutine for all who watch, which runs only while somebody does; Close
// ends it and waits for it. What it has seen is put into words once, and sent to all.
//
// Nobody is waited for. Who is too slow to be told of each look is told the next time of all that has changed since the last one
// that he was told of, and of passes that were dropped how many there were. So all that is kept for somebody is the last look that
// he was told of, and a few lots of passes.
package live
