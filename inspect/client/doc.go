// Package client owns how programs ask a running engine through the handler of package inspect: documents, and streams of them.
//
// Errors say what has gone wrong: a [*Problem] is an answer that says why there is none, an [*UnauthorizedError] that a token is
// needed, an [*UnreachableError] that nobody answers, and a [*StrangerError] that somebody else does.
//
// A [Client] keeps no state beside its connections. The package starts no goroutine that outlives a call.
package client
