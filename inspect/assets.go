package inspect

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages refer to.
type asset struct {
	path, contentType string
	content           []byte
}

// The assets. Their paths change with their contents, so browsers may keep them for ever.
var (
	styleSheet = newAsset("inspect.css", "text/css; charset=utf-8")
	script     = newAsset("inspect.js", "text/javascript; charset=utf-8")
	icon       = newAsset("icon.svg", "image/svg+xml")
)

func newAsset(name, contentType string) asset {
	content, err := assetFiles.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}

	sum := sha256.Sum256(content)

	return asset{"assets/" + hex.EncodeToString(sum[:8]) + "/" + name, contentType, content}
}

func routeAssets(mux *http.ServeMux) {
	for _, a := range []asset{styleSheet, script, icon} {
		mux.HandleFunc("/"+a.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", a.contentType)
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")

			_, _ = w.Write(a.content) // a client that has gone is no concern of the page
		})
	}
}
