package metrics_test

import (
	"expvar"
	"fmt"
	"time"

	"github.com/switchyard-run/switchyard/metrics"
)

func Example() {
	engine := metrics.NewEngine(true)
	engine.Open()

	// What the contract counts is found where its dashboards look for it.
	counted := engine.Queue("ExampleController")
	counted.Reconciled(time.Second)

	queued := 7
	engine.QueueLength("ExampleController", func() int { return queued })

	for _, name := range []string{"cosi_qcontroller_processed", "cosi_qcontroller_queue_length"} {
		fmt.Println(name, expvar.Get(name).(*expvar.Map).Get("ExampleController"))
	}

	// A gauge goes with its engine, a count stays.
	engine.Close()

	fmt.Println(expvar.Get("cosi_qcontroller_queue_length").(*expvar.Map).Get("ExampleController"))
	// Output:
	// cosi_qcontroller_processed 1
	// cosi_qcontroller_queue_length 7
	// <nil>
}
