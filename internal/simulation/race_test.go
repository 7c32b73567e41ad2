//go:build race

package simulation_test

// raced tells that the tests run with the race detector, and usual is how many seeds they draw then.
const (
	raced = true
	usual = 40
)
