//go:build !race

package operated_test

// usual is how many seeds each simulation draws.
const usual = 700
