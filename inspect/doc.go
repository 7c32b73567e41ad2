// Package inspect owns what a host mounts to look into a running engine: pages for people, the same as JSON under api/v1/, and
// metrics. It answers questions (package answer) and never changes anything.
//
// A [Handler] is an [http.Handler] that works at any path: mount it with [http.StripPrefix], and close it when the engine has ended.
// It draws pictures of the graph in a goroutine of its own, and follows the engine in another one while anybody watches; Close
// waits for them.
//
// # Who may look
//
// The handler is made for a listener on the loopback interface. It answers requests for local names alone (see [Config]), and none
// that a page of another origin makes, so that what a browser has open elsewhere can not read it. It knows no users: a host that
// listens on other addresses puts authentication before it.
//
// Contents of resources that are marked as sensitive, or of which nobody can say whether they are, are never shown.
package inspect
