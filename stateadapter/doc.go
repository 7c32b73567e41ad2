// Package stateadapter owns the guarded view of the state that a controller holds: every call is checked against what
// the controller has declared, before it reaches the state.
//
// An [Adapter] reads through the cache where a kind is cached, sets and checks ownership on writes, limits their rate
// where the host asked for it, keeps track of outputs, and turns the state's conflicts into errors that can be asked
// about safely. It starts no goroutine.
package stateadapter
