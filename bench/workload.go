package main

import "slices"

// judge says by what engines are compared.
type judge string

// The ways to compare.
const (
	byTime  judge = "time"
	byCPU   judge = "cpu"
	byValue judge = "value"
)

// workload is one thing that engines are compared in.
type workload struct {
	// name is that of the row, what says in a few words what is done.
	name, what string
	// unit is what size counts, and what figures are divided by.
	unit string
	// size is the number of units of a full run, quick that of a quick one.
	size, quick int
	// grows tells that the size is varied to see how the cost grows.
	grows bool
	// single tells that it is the cost of one operation that may grow with the size, not that of all.
	single bool
	// target is how many times better than the peer this engine is to be.
	target float64
	// limit is the largest value that is allowed for this engine, in units of the value. Zero is none.
	limit float64
	// steady is the name of a workload whose cost of one operation this one may exceed by half, at most.
	steady string
	// by is what is compared. The default is time on the clock, for targets of 2 and more, and processor time below.
	by judge
	// in is the unit of the value, for what is compared by value: "s" or "B".
	in string
	// peerless tells that the size is beyond the peer.
	peerless bool

	run, floor func(*trial)
}

// judged returns what engines are compared by.
func (w *workload) judged() judge {
	if w.by != "" {
		return w.by
	}

	if w.target > 0 && w.target < 2 {
		return byCPU
	}

	return byTime
}

// worth returns the figure that engines are compared by: for time, that of one operation.
func (w *workload) worth(f figures) float64 {
	switch w.judged() {
	case byValue:
		return f.Value
	case byCPU:
		return f.CPU / float64(f.Ops)
	default:
		return f.Seconds / float64(f.Ops)
	}
}

// workloads returns all of them, in the order of the table.
func workloads() []*workload {
	return slices.Concat(
		queueWorkloads(),
		deliveryWorkloads(),
		latencyWorkloads(),
		cacheWorkloads(),
		cacheFillWorkloads(),
		inputWorkloads(),
		registrationWorkloads(),
		chainWorkloads(),
		memoryWorkloads(),
		habitWorkloads(),
		operatorWorkloads(),
	)
}

// named returns the workload with the name.
func named(name string) (*workload, bool) {
	all := workloads()
	i := slices.IndexFunc(all, func(w *workload) bool { return w.name == name })

	if i < 0 {
		return nil, false
	}

	return all[i], true
}
