// Package apply owns the one way in which resources are written over HTTP: a host that wants it mounts the handler of [New], and
// whoever may ask sends resources as YAML. It stands apart from package inspect, which never writes.
//
// # What is sent
//
// A POST with content type application/yaml, of one or several documents in the form that the contract writes: metadata and spec.
// Types are those that the program has registered with the contract's wire format, statically or dynamically. Reading is strict:
// a field that is not known, a type that is not known, a resource that is given twice are faults. All faults of all documents are
// told at once, up to a hundred, with document, field and place. (A spec that reads YAML by a method of its own is as strict as that
// method.)
//
// # What becomes of it
//
//   - A resource that is not there is created, without an owner.
//   - One that is there gets the spec of the document, and its labels and annotations where the document has any of them: a list
//     of labels or annotations that is left out stays as it is, one that is empty empties it.
//   - One that is the same already is left alone.
//   - One that has an owner is refused: what controllers have made is theirs. So is one in teardown.
//   - A version in a document has to be the current one. Without one, what is there now is replaced.
//   - The phase in a document is "running", if it is there: nothing is torn down by applying.
//   - Finalizers belong to who has set them. They stay as they are; a document with finalizers creates nothing.
//   - There may be up to 1,000 of each: labels, annotations, and finalizers.
//   - Times of creation and change are the state's, and not read.
//
// Everything is looked at before the first resource is written. If a write fails nevertheless, because somebody else was
// faster, what was done and what was not tried is told for each document.
//
// # Who may ask
//
// Requests go through package guard: those for other names than local ones, and those of pages of other origins, are refused. The
// content type is one that no form of a web page can send. A host that listens on more than the loopback interface puts a token
// before the handler. What may be written at all is for [Config].Allow to say.
//
// The package starts no goroutine.
package apply
