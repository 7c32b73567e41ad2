// Command bench runs the same workloads on this engine and on the one that ships with the contract, the peer, and prints
// how they compare.
//
// A workload is a function over what both engines share: the contract's interfaces. The program calls itself once for
// each round of each engine, so that no round inherits the heap of another, and interleaves the engines, so that
// whatever else the machine does meets all of them. A third column, the floor, is what the bare state or a bare data
// structure takes for the same thing.
//
// It owns its child processes, and ends them when it is interrupted. A child starts the goroutines of the workload it
// runs, one that samples the heap, and one that ends it when its parent has gone.
package main
