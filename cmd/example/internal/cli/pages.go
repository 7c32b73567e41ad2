package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/switchyard-run/switchyard/inspect/guard"

	"github.com/switchyard-run/switchyard/cmd/example/internal/app"
)

// readToken reads the token of the pages, if there is one.
func readToken(path string) (*guard.Token, error) {
	if path == "" {
		return nil, nil
	}

	token, err := guard.ReadToken(path)

	return &token, err
}

// checkPages refuses addresses of the pages that are none, and those that others could connect to if that is not what was meant, or
// if they could look as well.
func checkPages(opts app.Options) error {
	switch {
	case opts.HTTP == "" && opts.Apply:
		return errors.New("-apply: there are no pages that could take resources; leave -http \"\" out")
	case opts.HTTP == "":
		return nil
	}

	host, _, err := net.SplitHostPort(opts.HTTP)
	if err != nil {
		return fmt.Errorf("-http: %w", err)
	}

	switch {
	case opts.HTTPOpen && opts.Token == nil:
		return errors.New("-http-open: others could look at the pages; add -http-token-file FILE, with a token " +
			"that openssl rand -hex 32 makes, in a file that only you may read (chmod 600)")
	case !opts.HTTPOpen && !local(host):
		return fmt.Errorf("-http: others than the users of this machine could connect to %q; use an address of this machine alone, as "+
			"127.0.0.1:8080, or add -http-open and -http-token-file FILE", opts.HTTP)
	default:
		return nil
	}
}

// local tells whether only this machine can connect to a host.
func local(host string) bool {
	addr, err := netip.ParseAddr(host)

	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
