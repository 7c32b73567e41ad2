package controllers

import (
	"context"
	"fmt"
	"strings"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/safe"
	"go.uber.org/zap"

	"github.com/switchyard-run/switchyard/cmd/example/internal/document"
	"github.com/switchyard-run/switchyard/cmd/example/internal/resources"
)

// EtcFilesController writes down, in the formats that programs expect, what is known of names and of time. It joins
// three inputs, which is why it is no transform: a file is rendered when all that it speaks of is there.
type EtcFilesController struct{}

// Name implements [controller.Controller].
func (ctrl *EtcFilesController) Name() string { return "EtcFilesController" }

// Inputs implements [controller.Controller].
func (ctrl *EtcFilesController) Inputs() []controller.Input {
	return []controller.Input{
		safe.Input[*resources.Hostname](controller.InputWeak),
		safe.Input[*resources.Resolver](controller.InputWeak),
		safe.Input[*resources.TimeServer](controller.InputWeak),
	}
}

// Outputs implements [controller.Controller].
func (ctrl *EtcFilesController) Outputs() []controller.Output {
	return []controller.Output{{Type: resources.FileType, Kind: controller.OutputShared}}
}

// Run implements [controller.Controller].
func (ctrl *EtcFilesController) Run(ctx context.Context, r controller.Runtime, _ *zap.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.EventCh():
		}

		if err := ctrl.reconcile(ctx, r); err != nil {
			return err
		}

		r.ResetRestartBackoff()
	}
}

func (ctrl *EtcFilesController) reconcile(ctx context.Context, r controller.Runtime) error {
	name, err := found(safe.ReaderGetByID[*resources.Hostname](ctx, r, resources.TheMachine))
	if err != nil {
		return err
	}

	resolver, err := found(safe.ReaderGetByID[*resources.Resolver](ctx, r, resources.TheMachine))
	if err != nil {
		return err
	}

	times, err := found(safe.ReaderGetByID[*resources.TimeServer](ctx, r, resources.TheMachine))
	if err != nil {
		return err
	}

	if name == nil || resolver == nil || times == nil {
		return nil // the missing one wakes the controller when it comes
	}

	for _, file := range etcFiles(*name.TypedSpec(), *resolver.TypedSpec(), *times.TypedSpec()) {
		if err := safe.WriterModify(ctx, r, resources.NewFile(file.path), func(f *resources.File) error {
			*f.TypedSpec() = file.spec

			return nil
		}); err != nil {
			return fmt.Errorf("cannot write %s: %w", file.path, err)
		}
	}

	return nil
}

// etcFile is a file that every machine has.
type etcFile struct {
	path string
	spec resources.FileSpec
}

func etcFiles(name resources.HostnameSpec, resolver resources.ResolverSpec, times resources.TimeServerSpec) []etcFile {
	files := []etcFile{
		{document.PathHostname, resources.FileSpec{Content: name.Hostname + "\n"}},
		{document.PathHosts, resources.FileSpec{Content: hostsFile(name, resolver)}},
		{document.PathResolver, resources.FileSpec{Content: resolverFile(resolver)}},
		{document.PathTimeServers, resources.FileSpec{Content: timeServersFile(times)}},
	}

	for i := range files {
		spec := &files[i].spec
		spec.Set(spec.Content, 0o644)

		spec.Revision = spec.Digest // nothing else goes into the file
	}

	return files
}

func hostsFile(name resources.HostnameSpec, resolver resources.ResolverSpec) string {
	var b strings.Builder

	own := name.Hostname
	if name.FQDN != name.Hostname {
		own = name.FQDN + " " + name.Hostname
	}

	fmt.Fprintf(&b, "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 %s\n", own)

	for _, h := range resolver.Hosts {
		fmt.Fprintf(&b, "%s %s\n", h.Address, strings.Join(h.Names, " "))
	}

	return b.String()
}

func resolverFile(resolver resources.ResolverSpec) string {
	var b strings.Builder

	for _, server := range resolver.Servers {
		fmt.Fprintf(&b, "nameserver %s\n", server)
	}

	if len(resolver.Search) > 0 {
		fmt.Fprintf(&b, "search %s\n", strings.Join(resolver.Search, " "))
	}

	return b.String()
}

func timeServersFile(times resources.TimeServerSpec) string {
	var b strings.Builder

	for _, server := range times.Servers {
		fmt.Fprintf(&b, "server %s iburst\n", server)
	}

	return b.String()
}
