// Package operated tries the package operator out on worlds that nobody has thought of: an operator of stages and cases, with two
// kinds of children, a status, a finalizer against a fake of the outside world and a kind that it watches, under random writes of
// others and faults, each a run of package controllertest.
//
// What a world has to come to at rest is known from a plain model, which computes it from what was asked for alone. On the way
// there a notary looks at each write: whether it was made in vain, whether what is made has a primary that is held for it, and
// whether a primary is let go only when nothing is left.
package operated
