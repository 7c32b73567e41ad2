package adapter

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
)

const (
	// label is the label that the goroutines of a controller carry in profiles.
	label = "controller"
	// mostStacks is how many bytes of the stacks of a controller are told.
	mostStacks = 16 << 10
)

// Labelled returns the context with the label of a controller. Goroutines that are given the labels of the context, with
// pprof.SetGoroutineLabels, and all that they start, show it in profiles, and are found by [Stacks].
func Labelled(ctx context.Context, controller string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels(label, controller))
}

// Stacks returns where the goroutines of the controllers stand, by name: each stack once, with how many stand there. It
// stops the process for a moment, and its cost grows with all goroutines of the process. Controllers of one name in
// several engines can not be told apart.
func Stacks(controllers ...string) map[string]string {
	var profile bytes.Buffer

	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return nil // a buffer takes everything
	}

	return stacksOf(profile.String(), controllers)
}

// stacksOf reads a profile. Each stack in it is a paragraph of lines: how many goroutines and which addresses, their labels if
// they have any, and the frames.
func stacksOf(profile string, controllers []string) map[string]string {
	found := map[string]*strings.Builder{}

	for _, name := range controllers {
		found[fmt.Sprintf("%q:%q", label, name)] = &strings.Builder{}
	}

	for paragraph := range strings.SplitSeq(profile, "\n\n") {
		head, frames, _ := strings.Cut(paragraph, "\n# labels: ")
		labels, frames, _ := strings.Cut(frames, "\n")

		for labelled, stacks := range found {
			if strings.Contains(labels, labelled) && stacks.Len() < mostStacks {
				write(stacks, head, frames)
			}
		}
	}

	stacks := make(map[string]string, len(found))

	for _, name := range controllers {
		stacks[name] = found[fmt.Sprintf("%q:%q", label, name)].String()
	}

	return stacks
}

// write renders a stack as one frame a line, without addresses.
func write(to *strings.Builder, head, frames string) {
	count, _, _ := strings.Cut(head[strings.LastIndexByte(head, '\n')+1:], " ")

	fmt.Fprintf(to, "goroutines here: %s\n", count)

	for line := range strings.Lines(frames) {
		if _, frame, ok := strings.Cut(strings.TrimPrefix(line, "#\t"), "\t"); ok {
			to.WriteString(strings.Join(strings.FieldsFunc(frame, func(r rune) bool { return r == '\t' || r == '\n' }), " "))
			to.WriteByte('\n')
		}
	}
}
