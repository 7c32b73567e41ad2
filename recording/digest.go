package recording

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/cosi-project/runtime/pkg/resource"
)

// digest is a state, as hashes of its resources.
type digest map[name][sha256.Size]byte

// hash is that of a resource in a digest.
func hash(res resource.Resource) (sum [sha256.Size]byte, err error) {
	if res, err = settled(res); err != nil {
		return sum, err
	}

	c, err := encode(res)
	if err != nil {
		return sum, err
	}

	return c.hash(), nil
}

// sum hashes the whole state.
func (d digest) sum() string {
	h := sha256.New()

	for _, n := range slices.SortedFunc(maps.Keys(d), compareNames) {
		fmt.Fprintf(h, "%q %q %q %x\n", n.Namespace, n.Type, n.ID, d[n])
	}

	return hex.EncodeToString(h.Sum(nil))
}

func compareNames(a, b name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID))
}

// sequence hashes which passes there were.
type sequence struct {
	passes int
	sum    [sha256.Size]byte
}

func (s *sequence) add(p Pass) {
	s.passes++
	s.sum = sha256.Sum256(fmt.Appendf(nil, "%x %q %s %q", s.sum, p.Controller, p.By, p.Of))
}

func (s *sequence) summary(state digest) Summary {
	return Summary{Passes: s.passes, Sequence: hex.EncodeToString(s.sum[:]), State: state.sum()}
}

// Pass is one pass of a controller.
type Pass struct {
	// Controller is whose pass it is.
	Controller string
	// By is why it began.
	By Reason
	// Of is the item or the mapped resource, as namespace/type/id; empty for a classic controller.
	Of string
}

// String names the pass for people.
func (p Pass) String() string {
	if p.Of == "" {
		return p.Controller + " " + string(p.By)
	}

	return p.Controller + " " + string(p.By) + " " + p.Of
}

func (b begin) pass() Pass {
	p := Pass{Controller: b.Controller, By: b.By}

	if b.Of != nil {
		p.Of = b.Of.String()
	}

	return p
}
