package houserules

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every package says in one comment what it is.
func TestPackagesHaveAComment(t *testing.T) {
	s := loadSource(t)

	for _, dir := range s.dirs() {
		var comments []string

		for _, f := range s.packages[dir] {
			if f.ast.Doc != nil && strings.TrimSpace(f.ast.Doc.Text()) != "" {
				comments = append(comments, f.path)
			}
		}

		assert.NotEmpty(t, comments, "package %s has no comment: say in a doc.go what it owns and which goroutines it starts", dir)
		assert.LessOrEqual(t, len(comments), 1, "package %s has several comments, which godoc runs together", dir)
	}
}

// Every exported name says what it is. Constants and variables of one group may share a comment.
func TestExportedNamesHaveAComment(t *testing.T) {
	s := loadSource(t)

	for _, dir := range s.dirs() {
		for _, f := range s.packages[dir] {
			if ast.IsGenerated(f.ast) {
				continue
			}

			for _, name := range undocumented(f.ast) {
				assert.Fail(t, "no comment", "%s: %s.%s", s.at(name.Pos()), f.ast.Name.Name, name.Name)
			}
		}
	}
}

// undocumented returns the exported names of a file that have no comment.
func undocumented(f *ast.File) []*ast.Ident {
	var names []*ast.Ident

	add := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}

		for _, doc := range docs {
			if doc != nil && strings.TrimSpace(doc.Text()) != "" {
				return
			}
		}

		names = append(names, name)
	}

	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || receiver(decl.Recv.List[0].Type).IsExported() {
				add(decl.Name, decl.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					docs := []*ast.CommentGroup{spec.Doc}
					if !decl.Lparen.IsValid() {
						docs = append(docs, decl.Doc)
					}

					add(spec.Name, docs...)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name, spec.Doc, spec.Comment, decl.Doc)
					}
				}
			}
		}
	}

	return names
}

// receiver returns the name of the type of a receiver.
func receiver(expr ast.Expr) *ast.Ident {
	for {
		switch e := expr.(type) {
		case *ast.Ident:
			return e
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		default:
			return ast.NewIdent("_")
		}
	}
}

func TestUndocumentedNamesAreFound(t *testing.T) {
	text := `package p

// A has one.
type A[T any] struct{}

func (*A[T]) Bare() {}

// Dressed has one.
func (A[T]) Dressed() {}

type hidden int

func (hidden) Bare() {}

type (
	B int
	// C has one.
	C int
)

// Together.
const (
	D = iota
	E
)

var F, g = 1, 2

var H = 3 // H has one.

func I() {}

func j() {}
`
	var found []string

	for _, name := range undocumented(parse(t, text)) {
		found = append(found, name.Name)
	}

	require.Equal(t, []string{"Bare", "B", "F", "I"}, found)
}
