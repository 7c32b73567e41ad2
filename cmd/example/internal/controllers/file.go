package controllers

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/cosi-project/runtime/pkg/resource"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/operator"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// retry is when a file that could not be put in place is tried again. What is in the way may go without a sign, such as
// a full disk.
const retry = 5 * time.Second

// NewFileController returns the controller that makes the files on disk be what the state says, and puts back what other
// hands have changed. A file resource goes only after the file on disk. That something has changed on disk is told by the
// [DiskController], which does not say where: all files are looked at.
func NewFileController(tree *files.Tree) *operator.Controller[*resources.File] {
	// Who renders files destroys them, too.
	c := operator.For[*resources.File]("FileController").WithoutDestroyer().WithoutEvents()
	status := operator.Status[resources.FileData, resources.FileStatusExtension](c)
	operator.WatchNamed[*resources.DiskStatus](c, func(*resources.File) []resource.ID { return []resource.ID{resources.TheMachine} })

	c.Reconcile(func(ctx context.Context, file *resources.File, c *operator.Context[*resources.File]) error {
		name, spec := file.Metadata().ID(), file.TypedSpec()
		before, _ := c.GetCondition(operator.Ready)

		switch change, err := putFile(ctx, tree, name, []byte(spec.Content), fs.FileMode(spec.Mode)); {
		case err != nil:
			if before.Message != err.Error() {
				c.Logger().Warn("file cannot be put in place", zap.String("path", name), zap.Error(err))
			}

			return operator.Wait("Obstructed", operator.After(retry), operator.Message("%s", err))
		case change == files.Nothing:
		case before.Status == operator.True && before.ObservedGeneration == c.Generation():
			c.Logger().Info("file repaired", zap.String("path", name), zap.String("because it", string(change)))
			status.Set(c, func(data *resources.FileData) { data.Repairs, data.Repaired = data.Repairs+1, "it "+string(change) })
		default:
			c.Logger().Info("file written", zap.String("path", name))
		}

		return nil
	})

	return c.Finalize("FileController", func(ctx context.Context, file *resources.File, c *operator.StageContext) error {
		name := file.Metadata().ID()

		if err := removeFile(ctx, tree, name); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", name, err)
		}

		c.Logger().Info("file removed", zap.String("path", name))

		return nil
	})
}
