package metrics

// Calls is what is counted of the calls of a controller of either form. The zero value counts nothing. It is safe for
// concurrent use, and not to be copied.
type Calls struct {
	name          string // empty where nothing is counted
	reads, writes count
}

// Read counts a read that went to the state; reads from the cache are not counted.
func (c *Calls) Read() { c.reads.add(controllerReads, c.name, 1) }

// Wrote counts a call that writes, whatever comes of it.
func (c *Calls) Wrote() { c.writes.add(controllerWrites, c.name, 1) }

// Classic is what is counted of a classic controller. The zero value counts nothing. It is safe for concurrent use, and
// not to be copied.
type Classic struct {
	Calls

	crashes, wakeups count
}

// Crashed counts a failed run.
func (c *Classic) Crashed() { c.crashes.add(controllerCrashes, c.name, 1) }

// Woken counts a wakeup.
func (c *Classic) Woken() { c.wakeups.add(controllerWakeups, c.name, 1) }

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
	// Damped counts the passes of all controllers of the engine after which an item had to wait because its passes write what
	// wakes them. Nil counts nothing.
	Damped *Counter
	// MappedIn and MappedOut count calls of MapInput and the pointers they returned.
	MappedIn, MappedOut Counter
	// ReconcileBusy and MapBusy sum the time spent in the callbacks.
	ReconcileBusy, MapBusy Seconds
}

// Classic returns the metrics of a classic controller. The name is not empty.
func (e *Engine) Classic(name string) Classic {
	if !e.enabled {
		return Classic{}
	}

	return Classic{Calls: Calls{name: name}}
}

// Queue returns the metrics of a queue controller.
func (e *Engine) Queue(name string) *Queue {
	q := &Queue{}

	if e.enabled {
		q.name = name
		q.Damped = e.damped

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
