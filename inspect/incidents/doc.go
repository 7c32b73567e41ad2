// Package incidents owns the proof that answers help: scripted incidents, each a world in which something goes wrong, with what an
// operator would ask then and the root cause that the answer has to name within the first screen. It holds tests alone; the
// transcripts are in testdata.
package incidents
