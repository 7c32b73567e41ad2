package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
)

// picture is how the resources of a group look, by the name of their kind and their id.
type picture map[string]string

func at(kind string, id resource.ID) string { return kind + "/" + id }

// everything lists all resources of the kind as they are.
func (g *group) everything(ctx context.Context, kind string) ([]resource.Resource, error) {
	list, err := g.plain.List(ctx, g.kind(kind))

	return list.Items, err
}

// expected returns how outputs and sources are to look in the end: a plain function of what the writer has written. A
// source that is being torn down has no output, and nobody holds it.
func (g *group) expected(ctx context.Context) (picture, error) {
	written := map[string][]resource.Resource{}

	for _, kind := range []string{sources, notes, selections} {
		list, err := g.everything(ctx, kind)
		if err != nil {
			return nil, err
		}

		written[kind] = list
	}

	const runs = resource.PhaseRunning

	about := map[resource.ID]int64{}
	for _, note := range written[notes] {
		about[label(note, aboutLabel)] += specOf(note).Value
	}

	var sum, pick int64

	all, tally := picture{}, map[string]int64{}

	for _, source := range written[sources] {
		id, value, bucket := source.Metadata().ID(), specOf(source).Value, label(source, bucketLabel)

		if !running(source) {
			all[at(sources, id)] = look(value, bucket, source.Metadata().Phase())

			continue
		}

		joined := copied(value) + about[id]
		sum += joined
		tally[bucket] += value

		if slices.Contains(specOf(written[selections][0]).IDs, id) {
			pick += picked(source)
		}

		all[at(sources, id)] = look(value, bucket, runs, g.controller(copying))
		all[at(copies, id)] = look(copied(value), bucket, runs, g.controller(joining))
		all[at(joins, id)] = look(joined, "", runs)
	}

	for bucket, value := range tally {
		all[at(tallies, bucket)] = look(value, "", runs)
	}

	all[at(sums, theSum)] = look(sum, "", runs)
	all[at(picks, thePick)] = look(pick, "", runs)

	return all, nil
}

// actual returns how outputs and sources look.
func (g *group) actual(ctx context.Context) (picture, error) {
	all := picture{}

	for _, kind := range []string{sources, copies, joins, sums, tallies, picks} {
		list, err := g.everything(ctx, kind)
		if err != nil {
			return nil, err
		}

		for _, res := range list {
			all[at(kind, res.Metadata().ID())] = lookOf(res)
		}
	}

	return all, nil
}

// differences compares how a group looks with how it is to look, and returns a sentence for each difference.
func (g *group) differences(ctx context.Context) ([]string, error) {
	want, err := g.expected(ctx)
	if err != nil {
		return nil, err
	}

	have, err := g.actual(ctx)
	if err != nil {
		return nil, err
	}

	return want.differences(have), nil
}

func (want picture) differences(have picture) []string {
	if maps.Equal(want, have) {
		return nil
	}

	var sentences []string

	for name, is := range have {
		if wanted, there := want[name]; !there {
			sentences = append(sentences, fmt.Sprintf("%s is %s, and is not to be there", name, is))
		} else if is != wanted {
			sentences = append(sentences, fmt.Sprintf("%s is %s, and is to be %s", name, is, wanted))
		}
	}

	for name, wanted := range want {
		if _, there := have[name]; !there {
			sentences = append(sentences, fmt.Sprintf("%s is not there, and is to be %s", name, wanted))
		}
	}

	slices.Sort(sentences)

	return sentences
}
