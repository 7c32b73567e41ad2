package queue_test

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/switchyard-run/switchyard/backoff"
	"github.com/switchyard-run/switchyard/queue"
)

// A worker loop: get, work, done, until the queue is shut down.
func ExampleQueue() {
	q := queue.NewQueue[string](nil)

	q.Add("web")
	q.Add("db")
	q.Add("web")
	q.ShutDown()

	for {
		service, shutdown := q.Get()
		if shutdown {
			return
		}

		fmt.Println("restarting", service)
		q.Done(service)
	}

	// Output:
	// restarting web
	// restarting db
}

// What fails comes back later, and later each time; what succeeds begins anew.
func ExampleQueue_AddRateLimited() {
	clk := clockwork.NewFakeClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	attempt := func() error {
		if q.NumRequeues("web") < 3 {
			return errors.New("not yet")
		}

		return nil
	}

	q.Add("web")

	for {
		service, _ := q.Get()
		err := attempt()
		fmt.Println(service, "attempt", q.NumRequeues(service)+1, "error:", err)

		if err == nil {
			q.Forget(service)
			q.Done(service)

			return
		}

		q.AddRateLimited(service)
		q.Done(service)
		clk.Advance(time.Minute)
	}

	// Output:
	// web attempt 1 error: not yet
	// web attempt 2 error: not yet
	// web attempt 3 error: not yet
	// web attempt 4 error: <nil>
}

// On a fake clock a delay is over as soon as the clock says so.
func ExampleQueue_AddAfter() {
	clk := clockwork.NewFakeClock()
	q := queue.NewQueue[string](clk)

	defer q.ShutDown()

	q.AddAfter("web", time.Hour)
	fmt.Println(q.Len())
	clk.Advance(time.Hour)
	fmt.Println(q.Len())
	// Output:
	// 0
	// 1
}

// An engine starts a worker when there is work and no worker yet, and has none while there is nothing to do.
func ExampleKeyed() {
	var (
		mu      sync.Mutex // guards working
		working bool
		workers sync.WaitGroup
		q       *queue.Keyed[string, int]
	)

	work := func() {
		for {
			mu.Lock()

			service, changes, ok := q.Take()
			working = ok

			mu.Unlock()

			if !ok {
				return
			}

			fmt.Println(service, "changed", changes, "times")
			q.Done(service)
		}
	}

	q = queue.NewKeyed(nil, queue.KeyedConfig[string, int]{
		Merge: func(older, newer int) int { return older + newer },
		Ready: func() {
			mu.Lock()
			defer mu.Unlock()

			if !working {
				working = true

				workers.Go(work)
			}
		},
	})

	q.PutAll(func(yield func(string, int) bool) {
		for _, service := range []string{"web", "db", "web"} {
			if !yield(service, 1) {
				return
			}
		}
	}, queue.Live)
	workers.Wait()
	q.Stop()

	// Output:
	// web changed 2 times
	// db changed 1 times
}

// A failed key waits for its backoff, unless something changes: then it is tried at once.
func ExampleKeyed_Retry() {
	clk := clockwork.NewFakeClock()
	policy := backoff.EngineRestart()
	q := queue.NewKeyed(clk, queue.KeyedConfig[string, string]{})

	defer q.Stop()

	q.Put("web", "v1", queue.Live)

	for range 3 {
		service, version, _ := q.Take()
		delay := policy.Delay(q.Fail(service), nil)
		q.Retry(service, version, delay)
		fmt.Println(service, version, "failed, next try in", delay)
		clk.Advance(delay)
	}

	service, version, _ := q.Take()
	q.Retry(service, version, time.Hour)
	q.Put("web", "v2", queue.Live)

	service, version, ok := q.Take()
	fmt.Println(service, version, ok)
	// Output:
	// web v1 failed, next try in 500ms
	// web v1 failed, next try in 750ms
	// web v1 failed, next try in 1.125s
	// web v2 true
}
