package metrics

// Calls is what is counted of the calls of a controller of either form. The zero value counts nothing.
type Calls struct {
	// Reads counts reads that went to the state; reads from the cache are not counted.
	Reads Counter
	// Writes counts calls that write, whatever came of them.
	Writes Counter
}

// Classic is what is counted of a classic controller. The zero value counts nothing.
type Classic struct {
	Calls

	// Crashes counts failed runs.
	Crashes Counter
	// Wakeups counts the times it was woken.
	Wakeups Counter

	name string
}

// Queue is what is counted of a queue controller. The zero value counts nothing.
type Queue struct {
	Calls

	// Crashes counts failed passes and hooks.
	Crashes Counter
	// Processed counts finished passes of Reconcile.
	Processed Counter
	// Skips counts passes that ended with a skip.
	Skips Counter
	// Requeues counts items put back for later, by error or on request.
	Requeues Counter
	// MappedIn and MappedOut count calls of MapInput and the pointers they returned.
	MappedIn, MappedOut Counter
	// ReconcileBusy and MapBusy sum the time spent in the callbacks.
	ReconcileBusy, MapBusy Seconds

	name string
}

// Classic returns the metrics of a classic controller.
func (e *Engine) Classic(name string) *Classic {
	c := &Classic{}

	if e.enabled {
		c.name = name

		c.Reads.of(controllerReads, &c.name)
		c.Writes.of(controllerWrites, &c.name)
		c.Crashes.of(controllerCrashes, &c.name)
		c.Wakeups.of(controllerWakeups, &c.name)
	}

	return c
}

// Queue returns the metrics of a queue controller.
func (e *Engine) Queue(name string) *Queue {
	q := &Queue{}

	if e.enabled {
		q.name = name

		q.Reads.of(controllerReads, &q.name)
		q.Writes.of(controllerWrites, &q.name)
		q.Crashes.of(queueCrashes, &q.name)
		q.Processed.of(queueProcessed, &q.name)
		q.Skips.of(queueSkips, &q.name)
		q.Requeues.of(queueRequeues, &q.name)
		q.MappedIn.of(queueMappedIn, &q.name)
		q.MappedOut.of(queueMappedOut, &q.name)
		q.ReconcileBusy.of(queueReconcileBusy, &q.name)
		q.MapBusy.of(queueMapBusy, &q.name)
	}

	return q
}

func (c *Counter) of(f family, name *string) { c.in, c.key = f, name }
func (s *Seconds) of(f family, name *string) { s.in, s.key = f, name }
