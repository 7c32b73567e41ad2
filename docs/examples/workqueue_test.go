package examples_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/queue"
)

// watchHosts looks at hosts until the queue is shut down: at those that answer once a minute, and at those that do not after a backoff.
func watchHosts(q *queue.Queue[string], ping func(host string) error) {
	for {
		host, shutdown := q.Get()
		if shutdown {
			return
		}

		if err := ping(host); err != nil {
			q.DoneRateLimited(host)

			continue
		}

		q.Forget(host)
		q.DoneAfter(host, time.Minute)
	}
}

func Example_workQueue() {
	ping := func(host string) error {
		fmt.Println("looking at", host)

		return nil
	}

	q := queue.NewQueue[string](nil)
	q.Add("web")
	q.Add("db")
	q.Add("web") // it waits already

	var workers sync.WaitGroup

	for range 4 {
		workers.Go(func() { watchHosts(q, ping) })
	}

	q.ShutDown()
	workers.Wait()

	// Unordered output:
	// looking at web
	// looking at db
}

func Example_workQueueOnAFakeClock() {
	clock := clockwork.NewFakeClock()
	q := queue.NewQueue[string](clock,
		queue.WithBackoff(backoff.Policy{Base: time.Second, Factor: 3, Max: time.Hour}))

	defer q.ShutDown()

	q.Add("web")

	for range 3 {
		began := clock.Now()

		for q.Len() == 0 {
			clock.Advance(time.Second)
		}

		host, _ := q.Get()
		fmt.Println(host, "after", clock.Since(began))
		q.DoneRateLimited(host)
	}

	// Output:
	// web after 0s
	// web after 1s
	// web after 3s
}
