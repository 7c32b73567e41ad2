package controllers

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// DiskController looks after the tree of the files as a whole: it tells when something in it has changed, and takes away
// what an earlier run has left and the document does not speak of any more.
type DiskController struct {
	// Tree is where the files are.
	Tree *files.Tree
	// Dir is the absolute path of the tree, to be watched.
	Dir string
}

// Name implements [controller.Controller].
func (ctrl *DiskController) Name() string { return "DiskController" }

// Inputs implements [controller.Controller].
func (ctrl *DiskController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.File](controller.InputWeak),
		safe.Input[*resources.Document](controller.InputWeak),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *DiskController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.DiskStatusType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *DiskController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	watcher, err := watch(ctx, "the files", r.QueueReconcile, logger)
	if err != nil {
		return err
	}
	defer watcher.close()

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		list, err := safe.ReaderListAll[*resources.File](ctx, r)
		if err != nil {
			return err
		}

		// Watch first: what changes after that is told again. A directory that is made for a file is a change of the
		// one above it, and so comes to be watched itself.
		if err := watcher.directories(ctx, ctrl.directories(list)); err != nil {
			return err
		}

		if err := ctrl.removeForgotten(ctx, r, logger, list); err != nil {
			return err
		}

		if err := safe.WriterModify(ctx, r, resources.NewDiskStatus(), func(status *resources.DiskStatus) error {
			status.TypedSpec().Changes++

			return nil
		}); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// directories lists the directories of all files and those above them, up to the root of the tree: when a whole
// directory is taken away, the one above it tells.
func (ctrl *DiskController) directories(list safe.List[*resources.File]) []string {
	dirs := []string{ctrl.Dir}

	for file := range list.All() {
		for dir := path.Dir(file.Metadata().ID()); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, filepath.Join(ctrl.Dir, filepath.FromSlash(dir)))
		}
	}

	slices.Sort(dirs)

	return slices.Compact(dirs)
}

// removeForgotten removes files of an earlier run that the document in force does not speak of any more. Files that
// are about to be rendered are in the document already, so this does not wait for them.
func (ctrl *DiskController) removeForgotten(
	ctx context.Context, r controller.Runtime, logger *zap.Logger, list safe.List[*resources.File],
) error {
	doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
	if err != nil || doc == nil {
		return err
	}

	keep := fileRevisions(doc.TypedSpec().Machine)

	for file := range list.All() {
		keep[file.Metadata().ID()] = ""
	}

	owned, err := ownedFiles(ctx, ctrl.Tree)
	if err != nil {
		return err
	}

	for _, name := range owned {
		if _, keeps := keep[name]; keeps {
			continue
		}

		if err := removeFile(ctx, ctrl.Tree, name); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", name, err)
		}

		logger.Info("file of an earlier run removed", zap.String("path", name))
	}

	return nil
}
