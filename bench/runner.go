package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"
)

// series is what one contender has measured at one size, a figure for each round.
type series struct {
	Size      int       `json:"size"`
	Contender string    `json:"contender"`
	Figures   []figures `json:"figures"`
	// Limit is set if the contender took longer than that, in seconds.
	Limit float64 `json:"limit_seconds,omitempty"`
	// Problem is why the contender could not go on.
	Problem string `json:"problem,omitempty"`
}

// outcome is all that was measured of one workload.
type outcome struct {
	workload *workload

	Name   string    `json:"workload"`
	Series []*series `json:"series"`
}

// of returns the series of a contender at a size.
func (o *outcome) of(contender string, size int) *series {
	for _, s := range o.Series {
		if s.Contender == contender && s.Size == size {
			return s
		}
	}

	return nil
}

// patience is how long a round of a contender other than the peer may take before something must be wrong.
const patience = 10 * time.Minute

// runner runs workloads in children.
type runner struct {
	settings *settings
	progress io.Writer
}

// contenders returns who runs a workload.
func (r *runner) contenders(w *workload) []string {
	if r.settings.tracing {
		return []string{untracedName, tracedName}
	}

	var names []string

	for _, name := range []string{peerName, oursName, floorName} {
		switch {
		case r.settings.engine != "" && r.settings.engine != name:
		case name == peerName && w.peerless:
		case name == floorName && w.floor == nil:
		default:
			names = append(names, name)
		}
	}

	return names
}

// sizes returns the sizes at which a workload runs, from small to large.
func (r *runner) sizes(w *workload) []int {
	size := r.nominal(w)
	if !w.grows {
		return []int{size}
	}

	var sizes []int
	for _, factor := range r.settings.sizes {
		sizes = append(sizes, max(int(factor*float64(size)), 1))
	}

	return slices.Compact(sizes)
}

// nominal returns the size that is compared.
func (r *runner) nominal(w *workload) int {
	if r.settings.quick {
		return w.quick
	}

	return w.size
}

// rounds returns how many rounds a workload gets at a size. Close calls get more; sizes that only tell how the cost
// grows get fewer.
func (r *runner) rounds(w *workload, size int) int {
	switch {
	case size != r.nominal(w):
		return min(r.settings.rounds, growthRounds)
	case r.settings.tracing:
		return r.settings.rounds
	case w.target > 0 && w.target < 2:
		return closeCalls * r.settings.rounds
	default:
		return r.settings.rounds
	}
}

// growthRounds is the number of rounds for sizes that only tell how the cost grows.
const growthRounds = 3

// run runs all rounds of a workload, contenders interleaved: forwards in one round and backwards in the next, as whoever comes second
// may find the machine warmer, or busier, than the first.
func (r *runner) run(ctx context.Context, w *workload) (*outcome, error) {
	o := &outcome{workload: w, Name: w.name}
	out := map[string]bool{}

	for _, size := range r.sizes(w) {
		group := map[string]*series{}

		for round := range r.rounds(w, size) {
			names := slices.Clone(r.contenders(w))
			if round%2 == 1 {
				slices.Reverse(names)
			}

			for _, name := range names {
				if out[name] {
					continue
				}

				if group[name] == nil {
					group[name] = &series{Size: size, Contender: name}
					o.Series = append(o.Series, group[name])
				}

				if err := r.round(ctx, w, group[name], round); err != nil {
					return o, err
				}

				out[name] = group[name].Limit > 0 || group[name].Problem != ""
			}
		}
	}

	return o, r.profile(ctx, w)
}

// round runs one round of one contender. A contender that takes too long or can not go on is a result, too; an error is
// what ends the whole run.
func (r *runner) round(ctx context.Context, w *workload, s *series, round int) error {
	limit := patience
	if s.Contender == peerName {
		limit = r.settings.peerLimit
	}

	f, err := dispatch(ctx, order{Workload: w.name, Contender: s.Contender, Size: s.Size}, limit)

	var result string

	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTooSlow):
		s.Limit = limit.Seconds()
		result = fmt.Sprintf("over %s", limit)
	case err != nil:
		s.Problem = err.Error()
		result = s.Problem
	default:
		s.Figures = append(s.Figures, f)
		result = worthText(w, w.worth(f))

		if r.settings.tracing {
			result = secondsText(f.cpu()) + " of the processor, " + secondsText(f.time())
		}
	}

	fmt.Fprintf(r.progress, "%s size %d round %d %s: %s\n", w.name, s.Size, round+1, s.Contender, result)

	return nil
}

// problems returns an error that names every contender, the peer aside, that could not go on or took too long. What is
// wrong with the peer is a result.
func problems(outcomes []*outcome) error {
	var errs []error

	for _, o := range outcomes {
		for _, s := range o.Series {
			switch {
			case s.Contender == peerName:
			case s.Problem != "":
				errs = append(errs, errors.New(s.Problem))
			case s.Limit > 0:
				errs = append(errs, fmt.Errorf("%s of %s, size %d: took more than %s", o.Name, s.Contender, s.Size, patience))
			}
		}
	}

	return errors.Join(errs...)
}

// profile runs one more round of each contender, if profiles are wanted.
func (r *runner) profile(ctx context.Context, w *workload) error {
	if r.settings.profiles == "" {
		return nil
	}

	directory, err := filepath.Abs(r.settings.profiles)
	if err != nil {
		return err
	}

	for _, name := range r.contenders(w) {
		limit := patience
		if name == peerName {
			limit = r.settings.peerLimit
		}

		prefix := filepath.Join(directory, w.name+"-"+name)

		_, err := dispatch(ctx, order{Workload: w.name, Contender: name, Size: r.nominal(w), Profiles: prefix}, limit)

		switch {
		case errors.Is(err, errTooSlow) && name == peerName:
			fmt.Fprintf(r.progress, "%s: no profile of %s, which takes over %s\n", w.name, name, limit)
		case err != nil:
			return err
		default:
			fmt.Fprintf(r.progress, "%s: wrote %s.{cpu,heap}.pprof\n", w.name, prefix)
		}
	}

	return nil
}
