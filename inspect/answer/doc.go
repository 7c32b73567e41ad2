// Package answer owns how questions about a running engine are answered: what its controllers do, why they have run, what a
// resource waits for. The answers are documents of package api.
//
// [Answers] looks at three things at the moment of the question: the health of the engine, the passes that it remembers, and
// the state. It writes nothing, keeps nothing between questions, and starts no goroutine. A question costs what it looks at:
// those about causes copy all passes that are remembered, those about one controller its own.
//
// # Secrets
//
// The spec, the labels and the annotations of a resource whose definition marks it as sensitive are never part of an answer,
// nor those of a resource whose type has no definition, since nobody can say whether it is. Names, versions and finalizers are.
// What controllers put into their errors is shown as it is.
package answer
