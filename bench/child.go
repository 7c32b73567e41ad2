package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// order is what a parent asks of a child.
type order struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	Size      int    `json:"size"`
	Profiles  string `json:"profiles,omitempty"`
}

// childMark is the first argument of a child; the second is its order.
const childMark = "-child"

// errTooSlow is returned for a child that was ended because it took longer than allowed.
var errTooSlow = errors.New("took longer than allowed")

// dispatch runs an order in a child process.
func dispatch(ctx context.Context, o order, limit time.Duration) (f figures, err error) {
	text, err := json.Marshal(o)
	if err != nil {
		return f, err
	}

	program, err := os.Executable()
	if err != nil {
		return f, err
	}

	limited, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer cancel()

	var out, trouble bytes.Buffer

	child := exec.CommandContext(limited, program, childMark, string(text))
	child.Stdout, child.Stderr = &out, &trouble

	// A child ends when its standard input does, so none outlives a parent that was killed.
	leash, err := child.StdinPipe()
	if err != nil {
		return f, err
	}
	defer leash.Close()

	if err := child.Run(); err != nil {
		if cause := context.Cause(limited); cause != nil {
			return f, cause
		}

		return f, fmt.Errorf("%s of %s, size %d: %w\n%s", o.Workload, o.Contender, o.Size, err, strings.TrimSpace(trouble.String()))
	}

	return f, json.Unmarshal(out.Bytes(), &f)
}

// obey is the child: it runs an order and prints its figures.
func obey(text string, out io.Writer) error {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("%s is for the program itself: %w", childMark, err)
	}

	w, ok := named(o.Workload)
	if !ok {
		return fmt.Errorf("there is no workload %q", o.Workload)
	}

	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()

	f, _, err := perform(context.Background(), w, o.Contender, o.Size, o.Profiles)
	if err != nil {
		return err
	}

	return json.NewEncoder(out).Encode(f)
}
