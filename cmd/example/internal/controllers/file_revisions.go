package controllers

import "github.com/switchyard-run/switchyard/cmd/example/internal/document"

// fileRevisions lists all files that a machine has, those that every machine has and its templates, each with the state
// of it that belongs to the machine.
func fileRevisions(m document.Machine) map[string]string {
	revisions, name := make(map[string]string), hostnameOf(m)

	for _, file := range etcFiles(name, resolverOf(m), timeServerOf(m)) {
		revisions[file.path] = file.spec.Revision
	}

	for _, file := range templates(m) {
		revisions[file.Path] = templateRevision(file, name.Hostname, name.FQDN)
	}

	return revisions
}
