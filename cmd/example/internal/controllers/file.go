package controllers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/jonboulle/clockwork"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/recording"

	"github.com/switchyard-run/switchyard/cmd/example/internal/files"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// FileController makes the files on disk be what the state says, puts back what other hands have changed, and takes
// away what has no resource any more. A file resource goes only after the file on disk: the controller holds a
// finalizer on it.
type FileController struct {
	// Tree is where the files go.
	Tree *files.Tree
	// Dir is the absolute path of the tree, to be watched.
	Dir string
	// Clock is the time after which the controller tries again where a file could not be put in place.
	Clock clockwork.Clock
}

// retry is that time. What is in the way may go without a sign, such as a full disk.
const retry = 5 * time.Second

// Name implements [controller.Controller].
func (ctrl *FileController) Name() string { return "FileController" }

// Inputs implements [controller.Controller].
func (ctrl *FileController) Inputs() []controller.Input {
	return []controller.Input{
		// A finalizer may be put on strong inputs only.
		safe.Input[*resources.File](controller.InputStrong),
		safe.Input[*resources.Document](controller.InputWeak),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *FileController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.FileStatusType, Kind: controller.OutputExclusive}}
}

// Run implements [controller.Controller].
func (ctrl *FileController) Run(ctx context.Context, r controller.Runtime, logger *zap.Logger) error {
	// A change on disk is one more reason to reconcile. The watcher does not say which file changed, and need not: the
	// pass looks at all of them, and finds its own writes in order.
	watcher, err := watch(ctx, "the files", r.QueueReconcile, logger)
	if err != nil {
		return err
	}
	defer watcher.close()

	clock := recording.Clock(ctx, ctrl.Clock)

	var again <-chan time.Time

	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		case <-again:
		}

		list, err := safe.ReaderListAll[*resources.File](ctx, r)
		if err != nil {
			return err
		}

		// Watch first: what changes while the pass looks is told, and looked at by the next.
		if err := watcher.directories(ctx, ctrl.directories(list)); err != nil {
			return err
		}

		// Trouble with one file keeps no other one waiting.
		var failures error

		again = nil

		for file := range list.All() {
			inPlace, err := ctrl.reconcile(ctx, r, logger, file)
			failures = errors.Join(failures, err)

			if !inPlace && again == nil {
				again = clock.After(retry)
			}
		}

		failures = errors.Join(failures, ctrl.removeForgotten(ctx, r, logger, list))

		// The first pass over a file makes its directories; they want to be watched, too.
		if err := errors.Join(failures, watcher.directories(ctx, ctrl.directories(list))); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

// directories lists the directories of all files and those above them, up to the root of the tree: when a whole
// directory is taken away, the one above it tells.
func (ctrl *FileController) directories(list safe.List[*resources.File]) []string {
	dirs := []string{ctrl.Dir}

	for file := range list.All() {
		for dir := path.Dir(file.Metadata().ID()); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, filepath.Join(ctrl.Dir, filepath.FromSlash(dir)))
		}
	}

	slices.Sort(dirs)

	return slices.Compact(dirs)
}

// reconcile does what there is to do about one file, and tells whether all is well.
func (ctrl *FileController) reconcile(
	ctx context.Context, r controller.Runtime, logger *zap.Logger, file *resources.File,
) (bool, error) {
	if file.Metadata().Phase() == resource.PhaseTearingDown {
		return true, ctrl.remove(ctx, r, logger, file)
	}

	// The finalizer comes first: from now on there may be something on disk.
	if !file.Metadata().Finalizers().Has(ctrl.Name()) {
		if err := r.AddFinalizer(ctx, file.Metadata(), ctrl.Name()); err != nil {
			return false, err
		}
	}

	name, spec := file.Metadata().ID(), file.TypedSpec()
	change, failure := putFile(ctx, ctrl.Tree, name, []byte(spec.Content), fs.FileMode(spec.Mode))

	return failure == nil, safe.WriterModify(ctx, r, resources.NewFileStatus(name), func(status *resources.FileStatus) error {
		st := status.TypedSpec()

		switch {
		case failure != nil:
			if st.InPlace || st.Message != failure.Error() {
				logger.Warn("file cannot be put in place", zap.String("path", name), zap.Error(failure))
			}

			st.InPlace, st.Message = false, failure.Error()
		case st.InPlace && st.Digest == spec.Digest && change != files.Nothing:
			logger.Info("file repaired", zap.String("path", name), zap.String("because it", string(change)))

			st.Repairs, st.Message = st.Repairs+1, "repaired: it "+string(change)
		default:
			if change != files.Nothing {
				logger.Info("file written", zap.String("path", name))
			}

			if !st.InPlace {
				st.Message = "" // the old trouble is over
			}

			st.InPlace = true
		}

		st.Digest = spec.Digest

		return nil
	})
}

// remove takes the file from disk, then its status, then the finalizer that kept the resource.
func (ctrl *FileController) remove(ctx context.Context, r controller.Runtime, logger *zap.Logger, file *resources.File) error {
	if !file.Metadata().Finalizers().Has(ctrl.Name()) {
		return nil
	}

	name := file.Metadata().ID()

	if err := removeFile(ctx, ctrl.Tree, name); err != nil {
		return fmt.Errorf("%s cannot be removed: %w", name, err)
	}

	logger.Info("file removed", zap.String("path", name))

	if err := r.Destroy(ctx, resources.NewFileStatus(name).Metadata()); err != nil && !state.IsNotFoundError(err) {
		return err
	}

	return r.RemoveFinalizer(ctx, file.Metadata(), ctrl.Name())
}

// removeForgotten removes files of an earlier run that the document in force does not speak of any more. Files that
// are about to be rendered are in the document already, so this does not wait for them.
func (ctrl *FileController) removeForgotten(
	ctx context.Context, r controller.Runtime, logger *zap.Logger, list safe.List[*resources.File],
) error {
	doc, err := found(safe.ReaderGetByID[*resources.Document](ctx, r, resources.TheMachine))
	if err != nil || doc == nil {
		return err
	}

	revisions := fileRevisions(doc.TypedSpec().Machine)

	listed := make(map[string]bool)

	for file := range list.All() {
		listed[file.Metadata().ID()] = true
	}

	owned, err := ownedFiles(ctx, ctrl.Tree)
	if err != nil {
		return err
	}

	for _, name := range owned {
		if _, wanted := revisions[name]; wanted || listed[name] {
			continue
		}

		if err := removeFile(ctx, ctrl.Tree, name); err != nil {
			return fmt.Errorf("%s cannot be removed: %w", name, err)
		}

		logger.Info("file of an earlier run removed", zap.String("path", name))
	}

	return nil
}
