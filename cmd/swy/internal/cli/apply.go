package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/switchyard-run/switchyard/apply"
	"github.com/switchyard-run/switchyard/inspect/client"
)

// mostApplied is how long an answer may be, in bytes.
const mostApplied = 64 << 20

func (s *session) apply() *cobra.Command {
	var (
		files []string
		at    string
	)

	command := &cobra.Command{
		Use: "apply -f FILE", Short: "Create and change resources by YAML", Args: between(0, 0),
		Long: `Sends resources, in one or several YAML documents, to a host that takes them (the appliance with -apply). A resource that is not
there is created, one that is different is changed, and one that belongs to a controller is refused. All documents are looked at
before the first is written. What swy get -o yaml shows can be edited and applied; a version in it has to be the current one.`,
		Example: "  swy apply -f restart.yaml\n  swy get restartrequest web -o yaml | swy apply -f -",
		RunE: func(command *cobra.Command, _ []string) error {
			if len(files) == 0 {
				return misused("what is to be applied? Name it with -f FILE, or -f - for what is piped in")
			}

			where, err := s.applyAt(at)
			if err != nil {
				return err
			}

			for _, file := range files {
				if err := s.applyFile(command.Context(), where, file); err != nil {
					return err
				}
			}

			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}

	command.Flags().StringArrayVarP(&files, "filename", "f", nil, "`file` with documents; - is what is piped in")
	command.Flags().StringVar(&at, "to", "", "`URL` that takes resources (default apply beside the address of --http)")

	return command
}

// applyAt is where resources are taken.
func (s *session) applyAt(at string) (string, error) {
	if at == "" {
		base, err := url.Parse(s.http)
		if err != nil {
			return "", misused("--http: %w", err)
		}

		at = base.JoinPath("../apply").String()
	}

	if where, err := url.Parse(at); err != nil || where.Scheme != "http" && where.Scheme != "https" || where.Host == "" {
		return "", misused("--to: %q is no address that takes resources, as http://127.0.0.1:8080/apply", at)
	}

	return at, nil
}

func (s *session) applyFile(ctx context.Context, at, file string) error {
	var (
		text []byte
		err  error
	)

	if file == "-" {
		text, err = io.ReadAll(s.Stdin)
	} else {
		text, err = os.ReadFile(file)
	}

	if err != nil {
		return &refusedError{what: "-f: " + err.Error()}
	}

	report, err := s.send(ctx, at, text)
	if err != nil {
		return err
	}

	if report.Status == http.StatusOK {
		_, err := fmt.Fprint(s.Stdout, report)

		return err
	}

	fmt.Fprint(s.Stderr, report)

	return &refusedError{what: fmt.Sprintf("%s: %s", file, report.Error), do: report.Do}
}

// send sends documents and returns what is reported of them.
func (s *session) send(ctx context.Context, at string, text []byte) (*apply.Report, error) {
	ctx, done := s.limited(ctx)
	defer done()

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(text))
	if err != nil {
		return nil, misused("--to: %w", err)
	}

	token, err := s.token()
	if err != nil {
		return nil, err
	}

	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}

	request.Header.Set("Content-Type", apply.ContentType)

	// Who answers from elsewhere is another one, and should not be told the token.
	asking := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	response, err := asking.Do(request)
	if err != nil {
		return nil, unheard(ctx, at, err)
	}

	defer response.Body.Close()

	answer, err := io.ReadAll(io.LimitReader(response.Body, mostApplied))
	if err != nil {
		return nil, unheard(ctx, at, err)
	}

	if response.StatusCode == http.StatusUnauthorized {
		return nil, &client.UnauthorizedError{Address: at, Sent: token != ""}
	}

	report := &apply.Report{}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // none is not the one that is known

	if kind != "application/json" || json.Unmarshal(answer, report) != nil || report.Status != response.StatusCode {
		return nil, &refusedError{
			what: fmt.Sprintf("%s takes no resources (%d %s)", at, response.StatusCode, http.StatusText(response.StatusCode)),
			do:   "start the host with -apply, or say with --to where it takes them",
		}
	}

	return report, nil
}

// unheard is that nobody has answered; documents may have been written nevertheless.
func unheard(ctx context.Context, at string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // the address is told anyway
	}

	return &client.UnreachableError{Address: at, Err: err}
}
