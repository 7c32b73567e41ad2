// Package guard owns who may ask a server that is made for the people at one machine, and what a browser may do with its answers.
//
// [New] puts the checks before a handler, and strict headers on every answer:
//
//   - Methods that are not named do not exist, at any path.
//   - A request has to be for a local name, an address, or a name that the host has allowed. A page from elsewhere could have its
//     own name lead to this machine, and read the answers as its own otherwise (DNS rebinding). An address in the place of a name is
//     none that anybody has chosen.
//   - Requests that a page of another origin makes are refused, be it a page of another port of the same machine. A link to a page
//     of the handler may be followed. Nothing is ever shared with other origins.
//   - A panic of the handler is an answer like others, and goes to the log.
//
// [RequireToken] asks for a secret, for listeners that others can reach as well.
//
// The package starts no goroutine.
package guard
