package controllers

import "github.com/switchyard-run/switchyard/cmd/example/internal/document"

// filePaths lists all files that a machine has: those that every machine has, and its templates.
func filePaths(m document.Machine) []string {
	paths := []string{document.PathHostname, document.PathHosts, document.PathResolver, document.PathTimeServers}

	for _, file := range templates(m) {
		paths = append(paths, file.Path)
	}

	return paths
}
