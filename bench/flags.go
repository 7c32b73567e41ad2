package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// settings are what the command line says.
type settings struct {
	run       *regexp.Regexp
	rounds    int
	sizes     []float64
	engine    string
	peerLimit time.Duration
	profiles  string

	quick, list, write, json, capacity, tracing bool
}

// The defaults of a full run and of a quick one.
const (
	fullRounds  = 5
	quickRounds = 1
	// closeCalls is by how much rounds are multiplied for workloads that are judged by less than twice.
	closeCalls = 3
	quickLimit = 5 * time.Second
	fullLimit  = 60 * time.Second
)

// parseFlags reads the command line. It returns flag.ErrHelp when help was asked for and given.
func parseFlags(args []string, out io.Writer) (*settings, error) {
	var (
		s     settings
		run   string
		sizes string
	)

	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&run, "run", "", "only workloads whose name matches the regular `expression`")
	flags.IntVar(&s.rounds, "rounds", 0, fmt.Sprintf("rounds of each workload, at least 1 (default %d, %d with -quick; %d times as many where the target is below 2)", fullRounds, quickRounds, closeCalls))
	flags.StringVar(&sizes, "sizes", "", "`factors` by which the size of a workload is multiplied, separated by commas, for the growth of costs (default 0.1,1,10; 1 with -quick)")
	flags.StringVar(&s.engine, "engine", "", "only one contender: `ours`, peer or floor")
	flags.DurationVar(&s.peerLimit, "peer-limit", 0, fmt.Sprintf("how long one round of the peer may take before it is ended and its figure becomes a lower bound (default %s, %s with -quick)", fullLimit, quickLimit))
	flags.StringVar(&s.profiles, "profile", "", "after the rounds, run one more of each contender and write its profiles of processor and heap into the `directory`")
	flags.BoolVar(&s.quick, "quick", false, "smaller sizes and fewer rounds: says whether everything works, not how it compares")
	flags.BoolVar(&s.list, "list", false, "list the workloads and end")
	flags.BoolVar(&s.write, "write", false, "run everything, and replace the table in docs/benchmarks.md, between its two markers; run it from the root of the repository")
	flags.BoolVar(&s.json, "json", false, "print all figures as JSON instead of a table")
	flags.BoolVar(&s.capacity, "capacity", false, "run 10,000 controllers, 1,000,000 cached resources and 1,000,000 queued items in one process instead")

	flags.BoolVar(&s.tracing, "tracing", false, fmt.Sprintf("compare this engine with itself, with passes remembered and without (default workloads are those of routing, default rounds %d)", tracingRounds))

	if err := flags.Parse(args); err != nil {
		return nil, err
	}

	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q: workloads are chosen with -run", flags.Arg(0))
	}

	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })

	if given["rounds"] && s.rounds < 1 {
		return nil, fmt.Errorf("-rounds %d: at least 1 is needed", s.rounds)
	}

	if given["peer-limit"] && s.peerLimit <= 0 {
		return nil, fmt.Errorf("-peer-limit %s: more than 0 is needed", s.peerLimit)
	}

	if given["engine"] && s.engine != oursName && s.engine != peerName && s.engine != floorName {
		return nil, fmt.Errorf("-engine %q: it is %s, %s or %s", s.engine, oursName, peerName, floorName)
	}

	if s.capacity && len(given) > 1 {
		return nil, errors.New("-capacity stands alone: leave out other flags")
	}

	if s.write && (s.engine != "" || s.json) {
		return nil, errors.New("-write needs all contenders, and writes a table: leave out -engine and -json")
	}

	if s.write && (s.quick || s.list || given["run"]) {
		return nil, errors.New("-write replaces the whole table by what is run: leave out -quick, -list and -run")
	}

	if s.tracing && (s.write || given["engine"] || given["sizes"]) {
		return nil, errors.New("-tracing has a table of its own, and its contenders are this engine twice at one size: leave out -write, -engine and -sizes")
	}

	if s.tracing && !given["run"] {
		run = tracingRows
	}

	var err error

	if s.run, err = regexp.Compile(run); err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}

	s.defaults()

	if given["sizes"] {
		if s.sizes, err = parseSizes(sizes); err != nil {
			return nil, fmt.Errorf("-sizes: %w", err)
		}
	}

	return &s, nil
}

// defaults fills in what was not given.
func (s *settings) defaults() {
	s.sizes = []float64{0.1, 1, 10}
	rounds, limit := fullRounds, fullLimit

	if s.quick {
		s.sizes = []float64{1}
		rounds, limit = quickRounds, quickLimit
	}

	if s.tracing {
		s.sizes = []float64{1}
		rounds = tracingRounds
	}

	if s.rounds == 0 {
		s.rounds = rounds
	}

	if s.peerLimit == 0 {
		s.peerLimit = limit
	}
}

func parseSizes(text string) ([]float64, error) {
	var sizes []float64

	for field := range strings.SplitSeq(text, ",") {
		size, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || size <= 0 || size > 1000 {
			return nil, fmt.Errorf("%q is not a factor: numbers above 0, up to 1000, like 0.1,1,10", field)
		}

		if len(sizes) > 0 && size <= sizes[len(sizes)-1] {
			return nil, errors.New("factors go from small to large, so that a contender that has become too slow is not asked for more")
		}

		sizes = append(sizes, size)
	}

	return sizes, nil
}
