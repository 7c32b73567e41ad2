package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// settings are what the command line says.
type settings struct {
	length      time.Duration
	controllers int
	resources   int
	rate        float64
	seed        uint64
	faults      bool
	patience    time.Duration
	lose        float64
}

// fewest is how many resources a group has at least.
const fewest = 50

// groups returns the number of groups.
func (s *settings) groups() int { return s.controllers / len(roles) }

// parseFlags reads the command line. It returns flag.ErrHelp when help was asked for and given.
func parseFlags(args []string, out io.Writer) (*settings, error) {
	s := &settings{}

	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.DurationVar(&s.length, "for", 10*time.Minute, "how long to run")
	flags.IntVar(&s.controllers, "controllers", 200, fmt.Sprintf("how many controllers, a multiple of %d", len(roles)))
	flags.IntVar(&s.resources, "resources", 100_000, "how many resources, sources and outputs together")
	flags.Float64Var(&s.rate, "rate", 500, "how many sources are written in a second")
	flags.Uint64Var(&s.seed, "seed", 1, "what writers and faults draw from; on real time, a run does not repeat itself all the same")
	flags.BoolVar(&s.faults, "faults", true, "whether anything fails")
	flags.DurationVar(&s.patience, "patience", 2*time.Minute, "how long outputs may take to follow once their writer pauses, before an update counts as lost, and the engine to have nothing to do once all do")
	flags.Float64Var(&s.lose, "lose", 0, "the `share` of what watches send that is lost without a word, from 0 to 1: no engine can bear that, it is to try whether the program finds it")

	if err := flags.Parse(args); err != nil {
		return nil, err
	}

	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q", flags.Arg(0))
	}

	return s, s.validate()
}

func (s *settings) validate() error {
	switch {
	case s.length <= 0 || s.patience <= 0:
		return errors.New("-for and -patience must be above 0")
	case s.controllers < len(roles) || s.controllers%len(roles) != 0:
		return fmt.Errorf("-controllers %d: it is a multiple of %d, the controllers of a group", s.controllers, len(roles))
	case s.resources < fewest*s.groups():
		return fmt.Errorf("-resources %d: at least %d are needed for each of %d groups", s.resources, fewest, s.groups())
	case !(s.rate > 0 && s.rate <= 1e6):
		return fmt.Errorf("-rate %v: it lies above 0 and below a million", s.rate)
	case !(s.lose >= 0 && s.lose <= 1):
		return fmt.Errorf("-lose %v: it lies between 0 and 1", s.lose)
	default:
		return nil
	}
}
