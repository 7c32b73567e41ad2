package guard

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// knows tells whether requests may be for a host. Browsers always name one; who does not is none.
func (g *guard) knows(host string) bool {
	name := nameOf(host)
	if host == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}

	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}

	return name != "" && slices.ContainsFunc(g.cfg.Hosts, func(allowed string) bool { return nameOf(allowed) == name })
}

// nameOf is the name in a host, which may have a port, as names are compared.
func nameOf(host string) string {
	return strings.TrimSuffix(strings.ToLower((&url.URL{Host: host}).Hostname()), ".")
}

// own tells whether a request comes from a page of this very origin, from a person, or from a program that is no browser.
func (g *guard) own(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if !sameOrigin(origin, r.Host) {
			return false
		}
	}

	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	default: // cross-site, same-site, and what may be thought of yet
		read := r.Method == http.MethodGet || r.Method == http.MethodHead
		opens := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"

		return read && opens && g.cfg.Page(r)
	}
}

// sameOrigin tells whether an origin is the host that was asked. Who ends TLS before this server keeps the name of the host.
func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false // "null", for one, is a page that hides where it is from
	}

	port, known := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]

	return known && withoutPort(u.Host, port) == withoutPort(host, port)
}

func withoutPort(host, port string) string { return strings.TrimSuffix(strings.ToLower(host), port) }
