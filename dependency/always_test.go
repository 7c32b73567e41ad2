package dependency_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/dependency"
	"github.com/switchyard-run/switchyard/reduced"
)

// Who wants to know why classic controllers are woken is told of every change that concerns them, also where there are inputs by id on
// the kind, which have changes routed one by one.
func TestClassicControllersAreVisitedAlways(t *testing.T) {
	t.Parallel()

	db := dependency.NewDatabase[string]()

	for name, inputs := range map[string][]controller.Input{
		"whole": {whole(controller.InputWeak, "n", "A"), whole(controller.InputWeak, "n", "B")},
		"named": {byID(controller.InputWeak, "n", "A", "2")},
	} {
		_, err := db.Register(name, dependency.Classic, name, inputs, nil, nil)
		require.NoError(t, err)
	}

	told := map[string][]reduced.Key{}
	router := dependency.NewRouter(db, func(target string, changes []reduced.Metadata, _ controller.InputKind) {
		for i := range changes {
			told[target] = append(told[target], changes[i].Key())
		}
	})
	router.VisitAlways()

	batch := []reduced.Metadata{changed("n", "A", "1"), changed("n", "A", "2"), changed("n", "A", "3"), changed("n", "B", "1")}
	all := make([]reduced.Key, len(batch))

	for i := range batch {
		all[i] = batch[i].Key()
	}

	for range 2 {
		clear(told)
		router.Route(batch)
		require.Equal(t, map[string][]reduced.Key{"whole": all, "named": all[1:2]}, told)
	}
}
