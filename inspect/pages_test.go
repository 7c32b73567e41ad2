package inspect_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/net/html"

	"github.com/switchyard-run/switchyard/dependency/render"
)

// hostileNames are names of controllers, types, namespaces and ids that mean something to whoever does not take care.
var hostileNames = []string{
	hostile,
	`<img src=x onerror=alert(1)>`,
	`" onmouseover="alert(1)" x="`,
	"' onfocus='alert(1)",
	`javascript:alert(1)`,
	"..", ".", " ", "a/b?c#d", "a&amp;b", "a+b", "%2e%2e", "{{.}}", "</title><script>alert(1)</script>", "]]>", "-->",
	"\u202egnp.exe", "line\r\nbreak\ttab", "zero\x00byte", "not \xff\xfe utf-8",
	strings.Repeat("0123456789", 1024),
}

// Names may be anything: on all pages that one gets to by following links they are text, and every link leads to a page of the
// same name, under any prefix.
func TestPagesOfAHostileSystem(t *testing.T) {
	for _, prefix := range []string{"", "/in/side"} {
		t.Run("below "+prefix, func(t *testing.T) {
			inWorld(t, func(w *world) { followAll(w, prefix) })
		})
	}
}

func followAll(w *world, prefix string) {
	w.Helper()
	w.populate(hostileNames)

	c := &crawl{world: w, prefix: prefix, most: 160, seen: map[string]bool{}}
	w.drawn()
	c.visit(prefix + "/")

	for _, page := range []string{"/controller", "/pass", "/passes", "/resource", "/resources", "/why", "/blocked", "/findings", "/"} {
		assert.True(w, slices.ContainsFunc(c.visited, func(address string) bool {
			path, _, _ := strings.Cut(address, "?")

			return path == prefix+page
		}), "no link leads to %s", page)
	}

	for _, name := range hostileNames {
		page := c.visit(prefix + "/controller?" + url.Values{"name": {name}}.Encode())
		assert.Contains(w, page.text("h1"), spaced(render.Printable(name, len(name)*8+8)))
	}
}

// What is in a resource of a sensitive type is on no page.
func TestPagesKeepSecrets(t *testing.T) {
	inWorld(t, func(w *world) {
		const secret = "hunter2"

		r := &sensitive{*newThing("vault", "Keys", "one"), secret}
		r.Metadata().Labels().Set("zone", secret)
		r.Metadata().Annotations().Set("note", secret)
		require.NoError(t, w.engine.RegisterQController(named{"Keys"}))
		require.NoError(t, w.Create(w.Context(), r))
		w.populate([]string{"Other"})
		w.drawn()

		c := &crawl{world: w, most: 200, secret: secret, seen: map[string]bool{}}
		c.visit("/")
		page := c.visit("/resource?id=one&namespace=vault&type=Keys")
		assert.Contains(t, page.text("main"), "its type is sensitive")
	})
}

// What is asked wrongly is answered by a page that says so.
func TestPagesOfWrongQuestions(t *testing.T) {
	inWorld(t, func(w *world) {
		for address, want := range map[string]struct {
			status int
			text   string
		}{
			"/nothing":                                       {http.StatusNotFound, "no such page"},
			"/controller":                                    {http.StatusBadRequest, `"name"`},
			"/controller?name=" + "QIntToStr":                {http.StatusNotFound, "Did you mean QIntToStrController?"},
			"/pass?controller=x&number=1":                    {http.StatusNotFound, "no controller"},
			"/pass?controller=x&number=zero":                 {http.StatusBadRequest, `"number"`},
			"/passes?controller=x":                           {http.StatusNotFound, "no controller"},
			"/resource?namespace=a&type=b":                   {http.StatusBadRequest, `"id"`},
			"/resource?namespace=a&type=b&id=c":              {http.StatusNotFound, "is not there"},
			"/resources":                                     {http.StatusBadRequest, `"type"`},
			"/why":                                           {http.StatusBadRequest, "nothing was asked about"},
			"/blocked?namespace=%zz":                         {http.StatusBadRequest, "query can not be read"},
			"/blocked?controller=x":                          {http.StatusNotFound, "no controller"},
			"/controller?name=a&name=b":                      {http.StatusBadRequest, "more than once"},
			"/findings?what=all":                             {http.StatusBadRequest, "not known"},
			"/pass?controller=QIntToStrController&number=99": {http.StatusNotFound, "no pass"},
		} {
			answer := w.get(address)
			assert.Equal(t, want.status, answer.Code, address)

			page := parsePage(t, answer)
			page.check(t, address)
			assert.Contains(t, page.text("main"), want.text, address)
		}
	})
}

// A resource that others hold in teardown says who they are, and who of them is not known.
func TestPageOfAResourceInTeardown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("one")

		ptr := resource.NewMetadata("target", "test/str", "one", resource.VersionUndefined)
		require.NoError(t, w.AddFinalizer(w.Context(), ptr, "Nobody"))

		_, err := w.Teardown(w.Context(), resource.NewMetadata("source", "test/int", "one", resource.VersionUndefined))
		require.NoError(t, err)
		synctest.Wait()

		page := parsePage(t, w.get("/resource?namespace=target&type=test/str&id=one"))
		assert.Contains(t, page.text("main"), "Nobody orphaned: no controller of that name is registered")

		page = parsePage(t, w.get("/resource?namespace=source&type=test/int&id=one"))
		assert.Contains(t, page.text("main"), "QIntToStrController")

		page = parsePage(t, w.get("/blocked?namespace=source&type=test/int&id=one"))
		assert.Contains(t, page.text("ol"), "orphaned")

		page = parsePage(t, w.get("/why?namespace=target&type=test/str&id=one"))
		assert.Contains(t, page.text("ol"), "from outside")
	})
}

// The picture is drawn when somebody has asked for it, and anew when the declarations have changed. Until it is there, the page says
// so, and shows the one before if there was one. Its controllers have the colours of their states.
func TestPictureComesLater(t *testing.T) {
	inWorld(t, func(w *world) {
		page := parsePage(t, w.get("/"))
		assert.Empty(t, page.find("svg"))
		assert.Contains(t, page.text("p"), "The picture is being laid out.")
		assert.NotEmpty(t, page.find("noscript"), "without a script it is loaded again")

		page = w.drawn()
		assert.NotContains(t, page.text("p"), "The picture is being laid out.")
		assert.Equal(t, "node controller backing-off", attribute(page.node("QIntToStrController"), "class"))
		assert.Equal(t, "node controller waiting", attribute(page.node(hostile), "class"))

		w.populate([]string{"Another"})
		page = parsePage(t, w.get("/picture"))
		assert.NotNil(t, page.node(hostile))
		assert.Nil(t, page.node("Another"))
		assert.Contains(t, page.text("p"), "The picture is being laid out.")

		time.Sleep(time.Minute) // another picture is not made at once after one
		assert.NotNil(t, w.drawn().node("Another"))
	})
}

// Of more than 300 controllers the picture has groups, each of which leads to its members, and the list says which group has whom.
func TestPictureOfManyControllers(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 320 {
			require.NoError(t, w.engine.RegisterQController(named{fmt.Sprintf("Link%dController", i)}))
		}

		page := w.drawn()
		assert.Less(t, len(page.nodes()), 121)
		assert.Equal(t, "322", textOf(page.find("small")[0]))

		for _, node := range page.nodes() {
			parsePage(t, w.get("/"+attribute(node, "href"))).check(t, attribute(node, "href"))
		}

		grouped := 0

		for row := range page.find("tbody")[0].ChildNodes() {
			if row.Type == html.ElementNode && strings.Contains(attribute(row, "data-group"), "…") {
				grouped++
			}
		}

		assert.Greater(t, grouped, 300)
		assert.Equal(t, http.StatusNotFound, w.get("/group?name=None").Code)
	})
}

// The list can be searched without a script, and what is not found is said.
func TestSearchWithoutScript(t *testing.T) {
	inWorld(t, func(w *world) {
		page := parsePage(t, w.get("/?q=INTto"))
		list := textOf(page.find("tbody")[0])
		assert.Contains(t, list, "QIntToStrController")
		assert.NotContains(t, list, "alert")

		page = parsePage(t, w.get("/?q=nothing"))
		assert.Contains(t, page.text("main"), "No controller is like that.")

		// Its run hook fails.
		page = parsePage(t, w.get("/?q=int&state=backing-off"))
		list = textOf(page.find("tbody")[0])
		assert.Contains(t, list, "QIntToStrController")
		assert.NotContains(t, list, "alert")

		var sends []string // what each button of the form adds to the search

		for _, button := range page.find("button") {
			if attribute(button, "name") == "state" {
				sends = append(sends, attribute(button, "value"))
			}
		}

		assert.Equal(t, []string{"backing-off", "stuck", "paused", "stopped", "running", "registered", "finished", "waiting"}, sends,
			"a search stays with the state, each state is to be had, and its own button leaves it")
		assert.Contains(t, page.text("small"), "1 of ")

		assert.Equal(t, http.StatusBadRequest, w.get("/?state=angry").Code)
	})
}

// Assets may be kept for ever, under the address that pages have for them and under no other.
func TestAssets(t *testing.T) {
	inWorld(t, func(w *world) {
		page := parsePage(t, w.get("/"))

		for _, want := range []struct{ selector, attribute, contentType string }{
			{"link", "href", "image/svg+xml"}, {"script", "src", "text/javascript; charset=utf-8"},
		} {
			node := page.find(want.selector)[0]
			answer := w.get("/" + attribute(node, want.attribute))

			assert.Equal(t, http.StatusOK, answer.Code)
			assert.Equal(t, want.contentType, answer.Header().Get("Content-Type"))
			assert.Contains(t, answer.Header().Get("Cache-Control"), "immutable")
		}

		answer := w.get("/assets/0000000000000000/inspect.js")
		assert.Equal(t, http.StatusNotFound, answer.Code)
		assert.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
	})
}

// Whatever a controller is called, its pages are sound.
func FuzzNamesOnPages(f *testing.F) {
	for _, name := range hostileNames {
		f.Add(name)
	}

	f.Fuzz(func(t *testing.T, name string) {
		inWorld(t, func(w *world) {
			w.populate([]string{name})

			w.drawn()

			c := &crawl{world: w, most: 40, seen: map[string]bool{}}
			c.visit("/")
		})
	})
}

// populate registers a controller for each name, which reads and writes what has that name, and gives it something to do.
func (w *world) populate(names []string) {
	w.Helper()

	for _, name := range names {
		if name == hostile || name == "QIntToStrController" {
			continue // it is there already
		}

		require.NoError(w, w.engine.RegisterQController(named{name}), "%q", name)
		require.NoError(w, w.Create(w.Context(), newThing(name, name, name)), "%q", name)
	}

	synctest.Wait()
}

// drawn waits until the first page has its picture.
func (w *world) drawn() *parsedPage {
	w.Helper()
	w.get("/")
	synctest.Wait()

	page := parsePage(w.T, w.get("/"))
	require.NotEmpty(w, page.find("svg"))

	return page
}

// crawl follows links from page to page.
type crawl struct {
	*world

	prefix string
	// most bounds how many pages are looked at, and secret is on none of them.
	most    int
	secret  string
	seen    map[string]bool
	visited []string
}

// visit looks at a page, and at all to which it leads.
func (c *crawl) visit(address string) *parsedPage {
	c.Helper()

	handler := http.StripPrefix(c.prefix, c.handler)
	answer := ask(handler, http.MethodGet, "localhost", address)
	require.Equal(c, http.StatusOK, answer.Code, "%.300s: %.2000s", address, answer.Body)

	if c.secret != "" {
		require.NotContains(c, answer.Body.String(), c.secret, address)
	}

	page := parsePage(c.T, answer)
	page.check(c.T, address)
	c.visited = append(c.visited, address)
	c.seen[address] = true

	base, err := url.Parse("http://localhost" + address)
	require.NoError(c, err)

	for _, node := range page.find("a") {
		href := attribute(node, "href")
		require.NotContains(c, href, ":", "a link that may be to somewhere else: %.300s", href)

		to, err := base.Parse(href)
		require.NoError(c, err)
		require.True(c, strings.HasPrefix(to.Path, c.prefix+"/"), "a link out of the handler: %.300s", href)

		next := to.RequestURI()
		if c.seen[next] || len(c.visited) >= c.most || strings.HasPrefix(href, "#") {
			continue
		}

		c.seen[next] = true
		c.follow(node, to, next)
	}

	return page
}

// follow follows a link, and checks that it leads to where it says.
func (c *crawl) follow(link *html.Node, to *url.URL, next string) {
	c.Helper()

	page := c.visit(next)
	query, err := url.ParseQuery(to.RawQuery)
	require.NoError(c, err)

	for _, name := range []string{"id", "name", "controller"} {
		if values := query[name]; len(values) == 1 {
			short, long := spaced(render.Printable(values[0], 120)), spaced(render.Printable(values[0], len(values[0])*8+8))
			assert.True(c, strings.Contains(page.text("h1"), short) || strings.Contains(page.text("h1"), long),
				"%q leads to %q, not to %q", textOf(link), page.text("h1"), short)
		}
	}
}

// parsedPage is a page as a browser understands it.
type parsedPage struct{ root *html.Node }

func parsePage(t *testing.T, answer *httptest.ResponseRecorder) *parsedPage {
	t.Helper()
	require.Equal(t, "text/html; charset=utf-8", answer.Header().Get("Content-Type"))

	root, err := html.Parse(answer.Body)
	require.NoError(t, err)

	return &parsedPage{root}
}

// find returns the elements of a name; a title in the picture is none.
func (p *parsedPage) find(name string) (all []*html.Node) {
	for node := range p.root.Descendants() {
		if node.Type == html.ElementNode && node.Data == name && (name != "title" || node.Namespace == "") {
			all = append(all, node)
		}
	}

	return all
}

// nodes are the nodes of the picture.
func (p *parsedPage) nodes() (all []*html.Node) {
	for _, a := range p.find("a") {
		if strings.HasPrefix(attribute(a, "class"), "node ") {
			all = append(all, a)
		}
	}

	return all
}

// node is the node of a controller in the picture, or nil.
func (p *parsedPage) node(controller string) *html.Node {
	for _, node := range p.nodes() {
		if attribute(node, "data-controller") == controller {
			return node
		}
	}

	return nil
}

// text is the text of the elements of a name.
func (p *parsedPage) text(name string) string {
	var b strings.Builder

	for _, node := range p.find(name) {
		b.WriteString(textOf(node))
		b.WriteByte(' ')
	}

	return b.String()
}

// textOf is the text of an element, with its spaces as a browser shows them.
func textOf(node *html.Node) string {
	var b strings.Builder

	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}

	return spaced(b.String())
}

// spaced is a text with its spaces as a browser shows them.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\u00a0' }), " ")
}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Key == name {
			return a.Val
		}
	}

	return ""
}

// check checks what holds for every page: nothing in it acts, and it can be found one's way in by what reads it out.
func (p *parsedPage) check(t *testing.T, address string) {
	t.Helper()

	ids, level := map[string]bool{}, 0

	for node := range p.root.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}

		assert.NotContains(t, []string{"style", "iframe", "object", "embed", "base", "img", "image", "foreignObject"}, node.Data, address)

		if node.Data == "script" {
			assert.Nil(t, node.FirstChild, "a script in a page: %s", address)
			assert.True(t, strings.HasPrefix(attribute(node, "src"), "assets/"), address)
		}

		for _, a := range node.Attr {
			assert.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style", "%s of %s: %s", a.Key, node.Data, address)

			if a.Key == "id" {
				assert.False(t, ids[a.Val], "two of %s: %s", a.Val, address)
				ids[a.Val] = true
			}
		}

		if len(node.Data) == 2 && node.Data[0] == 'h' && node.Data[1] >= '1' && node.Data[1] <= '6' {
			next := int(node.Data[1] - '0')
			assert.LessOrEqual(t, next, level+1, "a heading is left out: %s", address)
			level = next
		}
	}

	for _, one := range []string{"title", "main", "h1", "header"} {
		assert.Len(t, p.find(one), 1, "%s: %s", one, address)
	}

	p.checkReferences(t, address, ids)
}

// checkReferences checks that all that is referred to is there, and that all that can be filled in has a label.
func (p *parsedPage) checkReferences(t *testing.T, address string, ids map[string]bool) {
	t.Helper()

	labels := map[string]bool{}

	for _, label := range p.find("label") {
		labels[attribute(label, "for")] = true
	}

	for node := range p.root.Descendants() {
		for _, name := range []string{"for", "aria-labelledby", "aria-controls"} {
			if id := attribute(node, name); node.Type == html.ElementNode && id != "" {
				assert.True(t, ids[id], "%s=%q leads nowhere: %s", name, id, address)
			}
		}
	}

	for _, input := range p.find("input") {
		assert.True(t, labels[attribute(input, "id")] || attribute(input, "type") == "hidden", "%s has no label: %s", attribute(input, "name"), address)
	}

	for _, button := range p.find("button") {
		assert.NotEmpty(t, textOf(button), address)
	}
}

// named is a controller that may be called anything, and writes what has its name.
type named struct{ name string }

func (n named) Name() string { return n.name }

func (n named) Settings() controller.QSettings {
	return controller.QSettings{
		Inputs:  []controller.Input{{Namespace: n.name, Type: n.name, Kind: controller.InputQPrimary}},
		Outputs: []controller.Output{{Type: "out of " + n.name, Kind: controller.OutputExclusive}},
	}
}

func (n named) Reconcile(ctx context.Context, _ *zap.Logger, rt controller.QRuntime, ptr resource.Pointer) error {
	return rt.Modify(ctx, newThing(n.name, "out of "+n.name, ptr.ID()), func(resource.Resource) error { return nil })
}

func (named) MapInput(context.Context, *zap.Logger, controller.QRuntime, controller.ReducedResourceMetadata) ([]resource.Pointer, error) {
	return nil, nil
}

// thing is a resource of whichever type.
type thing struct{ md resource.Metadata }

func newThing(namespace, typ, id string) *thing {
	return &thing{resource.NewMetadata(namespace, typ, id, resource.VersionUndefined)}
}

func (r *thing) Metadata() *resource.Metadata { return &r.md }

func (r *thing) Spec() any { return struct{ Text string }{"<script>alert(1)</script>"} }

func (r *thing) DeepCopy() resource.Resource { return &thing{r.md.Copy()} }

// sensitive is a thing whose type says that it is.
type sensitive struct {
	thing

	text string
}

func (r *sensitive) Spec() any { return struct{ Text string }{r.text} }

func (r *sensitive) DeepCopy() resource.Resource { return &sensitive{thing{r.md.Copy()}, r.text} }

func (r *sensitive) ResourceDefinition() meta.ResourceDefinitionSpec {
	return meta.ResourceDefinitionSpec{Type: r.md.Type(), DefaultNamespace: r.md.Namespace(), Sensitivity: meta.Sensitive}
}
