//go:build race

package operated_test

// usual is how many seeds each simulation draws, with the race detector.
const usual = 40
