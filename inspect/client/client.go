package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/switchyard-run/switchyard/inspect/api"
)

// DefaultAddress is where an appliance has its handler if it is not told otherwise.
const DefaultAddress = "http://127.0.0.1:8080/inspect/"

// mostBytes is how long an answer may be, and how long an event of a stream.
const mostBytes = 256 << 20

// Config is what a client is made of.
type Config struct {
	// Address is where the handler is mounted, as "http://127.0.0.1:8080/inspect/". The default is [DefaultAddress].
	Address string
	// Token is sent with each question, if there is one.
	Token string
	// Transport makes the connections. The default is that of package http.
	Transport http.RoundTripper
}

// Client asks one engine. It is safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// New returns a client. The error says what is wrong with the address.
func New(cfg Config) (*Client, error) {
	if cfg.Address == "" {
		cfg.Address = DefaultAddress
	}

	base, err := url.Parse(cfg.Address)

	switch {
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, fmt.Errorf("the address %q is none of a handler: it should look like %s", cfg.Address, DefaultAddress)
	case base.RawQuery != "" || base.Fragment != "" || base.User != nil:
		return nil, fmt.Errorf("the address %q has more than a host and a path: it should look like %s", base.Redacted(), DefaultAddress)
	}

	if !strings.HasSuffix(base.Path, "/") {
		base = base.JoinPath("/")
	}

	return &Client{base: base, token: cfg.Token, http: &http.Client{
		Transport: cfg.Transport,
		// Who answers from elsewhere is another one, and should not be told the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Address is where the client asks.
func (c *Client) Address() string { return c.base.String() }

// Overview returns what the engine does at the moment.
func (c *Client) Overview(ctx context.Context) (*api.Overview, error) {
	return ask[api.Overview](ctx, c, "overview", nil)
}

// Controllers returns all controllers in short.
func (c *Client) Controllers(ctx context.Context) (*api.Controllers, error) {
	return ask[api.Controllers](ctx, c, "controllers", nil)
}

// Controller returns all there is to say about a controller.
func (c *Client) Controller(ctx context.Context, name string) (*api.ControllerDetail, error) {
	return ask[api.ControllerDetail](ctx, c, "controller", url.Values{"name": {name}})
}

// Passes returns the last passes of a controller, or with no name those of all, the latest first, up to a number; 0 is some.
func (c *Client) Passes(ctx context.Context, controller string, limit int) (*api.Passes, error) {
	q := url.Values{}

	if controller != "" {
		q.Set("controller", controller)
	}

	return ask[api.Passes](ctx, c, "passes", limited(q, limit))
}

// Pass returns one pass.
func (c *Client) Pass(ctx context.Context, ref api.PassRef) (*api.Pass, error) {
	return ask[api.Pass](ctx, c, "pass", ofPass(ref))
}

// Resource returns all there is to say about a resource, whether or not it is there.
func (c *Client) Resource(ctx context.Context, ref api.Ref) (*api.ResourceDetail, error) {
	return ask[api.ResourceDetail](ctx, c, "resource", ofResource(ref))
}

// Resources returns the resources of a kind, up to a number; 0 is some.
func (c *Client) Resources(ctx context.Context, namespace, typ string, limit int) (*api.ResourceList, error) {
	return ask[api.ResourceList](ctx, c, "resources", limited(url.Values{"namespace": {namespace}, "type": {typ}}, limit))
}

// WhyResource returns why a resource is as it is.
func (c *Client) WhyResource(ctx context.Context, ref api.Ref) (*api.Why, error) {
	return ask[api.Why](ctx, c, "why", ofResource(ref))
}

// WhyController returns why a controller runs.
func (c *Client) WhyController(ctx context.Context, name string) (*api.Why, error) {
	return ask[api.Why](ctx, c, "why", url.Values{"controller": {name}})
}

// WhyPass returns why a pass was made.
func (c *Client) WhyPass(ctx context.Context, ref api.PassRef) (*api.Why, error) {
	return ask[api.Why](ctx, c, "why", ofPass(ref))
}

// BlockedResource returns what a resource waits for.
func (c *Client) BlockedResource(ctx context.Context, ref api.Ref) (*api.Blocked, error) {
	return ask[api.Blocked](ctx, c, "blocked", ofResource(ref))
}

// BlockedController returns what a controller waits for.
func (c *Client) BlockedController(ctx context.Context, name string) (*api.Blocked, error) {
	return ask[api.Blocked](ctx, c, "blocked", url.Values{"controller": {name}})
}

// Findings returns what is to be said of the declarations alone.
func (c *Client) Findings(ctx context.Context) (*api.Findings, error) {
	return ask[api.Findings](ctx, c, "findings", nil)
}

// Graph returns the declarations of all controllers as json, mermaid, dot or svg.
func (c *Client) Graph(ctx context.Context, format string) ([]byte, error) {
	body, _, err := c.open(ctx, "graph", url.Values{"format": {format}})
	if err != nil {
		return nil, err
	}

	defer body.Close()

	return c.read(ctx, body)
}

func ofResource(ref api.Ref) url.Values {
	return url.Values{"namespace": {ref.Namespace}, "type": {ref.Type}, "id": {ref.ID}}
}

func ofPass(ref api.PassRef) url.Values {
	return url.Values{"controller": {ref.Controller}, "number": {strconv.FormatUint(ref.Number, 10)}}
}

func limited(q url.Values, limit int) url.Values {
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}

	return q
}

// ask returns the document that answers a question.
func ask[T any](ctx context.Context, c *Client, path string, query url.Values) (*T, error) {
	body, contentType, err := c.open(ctx, path, query)
	if err != nil {
		return nil, err
	}

	defer body.Close()

	text, err := c.read(ctx, body)
	if err != nil {
		return nil, err
	}

	document := new(T)

	if err := json.Unmarshal(text, document); contentType != jsonType || err != nil {
		return nil, &StrangerError{c.Address(), http.StatusOK, contentType}
	}

	return document, nil
}

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// open asks a question and returns what is answered, which is to be closed, and its media type. What is no answer is an error.
func (c *Client) open(ctx context.Context, path string, query url.Values) (io.ReadCloser, string, error) {
	at := c.base.JoinPath("api/v1", path)
	at.RawQuery = query.Encode()

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, "", err
	}

	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}

	response, err := c.http.Do(request)
	if err != nil {
		return nil, "", c.unreachable(ctx, err)
	}

	contentType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")) // none is none of those that are known

	if response.StatusCode == http.StatusOK {
		return response.Body, contentType, nil
	}

	defer response.Body.Close()

	return nil, "", c.refused(response, contentType)
}

// refused is why there is no answer.
func (c *Client) refused(response *http.Response, contentType string) error {
	if response.StatusCode == http.StatusUnauthorized {
		return &UnauthorizedError{Address: c.Address(), Sent: c.token != ""}
	}

	text, _ := io.ReadAll(io.LimitReader(response.Body, mostBytes)) // what is cut off is no problem that can be read
	problem := &Problem{}

	if contentType != jsonType || json.Unmarshal(text, problem) != nil || problem.Status != response.StatusCode {
		return &StrangerError{c.Address(), response.StatusCode, contentType}
	}

	return problem
}

func (c *Client) read(ctx context.Context, body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, mostBytes))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}

	return text, nil
}

// unreachable tells why nothing was heard: whoever asks may not want to any more.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // the address is told anyway
	}

	return &UnreachableError{c.Address(), err}
}
