package reduced_test

import (
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/stretchr/testify/require"

	"github.com/switchyard-run/switchyard/reduced"
)

func TestTombstonesAreToldAmongOthers(t *testing.T) {
	t.Parallel()

	var tombstones reduced.Tombstones

	md := resource.NewMetadata("n", "T", "a", resource.VersionUndefined)
	gone := resource.NewTombstone(&md)

	for _, res := range []resource.Resource{gone, &thing{md}, &thing{md}, gone, gone, &thing{md}} {
		require.Equal(t, res == resource.Resource(gone), tombstones.Has(res))
	}
}
