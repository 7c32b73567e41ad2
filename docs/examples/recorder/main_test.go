package main

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func Example_main() {
	main()

	// Output:
	// web A 192.0.2.7
	// the record has gone with its host
}
