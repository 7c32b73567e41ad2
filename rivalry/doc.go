// Package rivalry owns controllers that keep rewriting one resource, each undoing what another has done: finding them, and
// slowing them down.
//
// A [Finder] is told by the views of the state that controllers have of each write that another controller might undo. It
// keeps a word for each of a fixed number of resources: who has written last, and how often that was another one than before.
// Only where writers take turns again and again it looks at what they write. Whatever values a field has had lately are
// remembered, and who has changed it: a controller that sets a field back to a value it had, after another controller has
// changed it, has undone that. Where this happens sixteen times within ten seconds, the resource is rewritten by rivals. Counting
// up a number, adding to a list, or each writing a field of one's own is no rivalry, however fast it is done.
//
// From then on the changes that rivals have made to the resource are held back from them, and from nobody else, for half a
// second at first and then for twice as long each time, up to half a minute. A change by anybody else is told at once, with
// what was held before it. When nothing was undone for as long as changes were held, it is over. Nothing that was held is
// lost: it is merged, and told when the time has come.
//
// The package starts no goroutine and sets no timer: its owner asks when something is due.
package rivalry
