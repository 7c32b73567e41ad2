package houserules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// wallClock are the functions that read the wall clock, or wait on it, by package.
var wallClock = map[string][]string{
	"time":                           {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
	"context":                        {"WithDeadline", "WithDeadlineCause", "WithTimeout", "WithTimeoutCause"},
	"github.com/jonboulle/clockwork": {"NewRealClock"},
}

// realClock are the files in which the real clock is the default of the one that can be injected.
var realClock = []string{"queue/alarm.go", "runtime/config.go"}

// seeded are the names of math/rand/v2 that draw nothing from the source that is global.
var seeded = []string{"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewZipf", "PCG", "Rand", "Source", "Zipf"}

// starters are the files of the engine, and of the programs that own what they start as it does, that start goroutines,
// each with who waits for them.
var starters = map[string]string{
	"adapter/alarm.go":       "Stop, which waits for what runs on the clock's timer",
	"contain/contain.go":     "the wait group that the caller of Loop brings",
	"adapter/crew.go":        "the wait group that the caller of Loop brings, and Close for those that are idle",
	"cache/teardown.go":      "nobody: what runs at the end of a context only takes it out of a set",
	"queue/alarm.go":         "nobody: what runs on the clock's timer only asks for another look, and not once stopped",
	"internal/soak/watch.go": "the run, once the engine has ended",
	"internal/soak/world.go": "the run, before it returns",
	"recording/drive.go":     "Replay waits for each Run and each pass of a replay",
	"recording/follow.go":    "the end of a pass or Run in a replay waits for it",
	"recording/live.go":      "the end of a recorded pass or Run waits for what runs at the end of a context",
	"recording/run.go":       "the recorded Run",
	"recording/timer.go":     "nobody: what runs on the clock's timer only puts the time into a channel, and not once stopped",
	"runtime/auditor.go":     "the session, which waits for its timer when it ends",
	"runtime/watch.go":       "the session, which waits at its end for what tells it of the end",
	"runtime/audit.go":       "the watch, once it has ended, and the end of the run for the watch",
	"runtime/entry.go":       "whoever reads the channel that is closed at the end of a unit",
	"runtime/register.go":    "the end of the run waits for unregistrations, and after it their callers do",
	"runtime/runtime.go":     "the end of the run waits for delivery, for the watchdog and for late starts",
}

// uses returns the selectors on an imported package in a file.
func uses(f *ast.File, name string) []*ast.SelectorExpr {
	var found []*ast.SelectorExpr

	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
				found = append(found, sel)
			}
		}

		return true
	})

	return found
}

// The engine has one clock, which is injected.
func TestEngineReadsNoWallClock(t *testing.T) {
	s := loadSource(t)

	s.eachEngineFile(func(f file) {
		for imported, name := range f.imports() {
			for _, use := range uses(f.ast, name) {
				if !slices.Contains(wallClock[imported], use.Sel.Name) || use.Sel.Name == "NewRealClock" && slices.Contains(realClock, f.path) {
					continue
				}

				assert.Fail(t, "wall clock", "%s: %s.%s: use the clock of the config", s.at(use.Pos()), name, use.Sel.Name)
			}
		}
	})
}

// The engine has one source of randomness, which is seeded.
func TestEngineDrawsNoGlobalRandomness(t *testing.T) {
	s := loadSource(t)

	s.eachEngineFile(func(f file) {
		imports := f.imports()

		for _, refused := range []string{"math/rand", "crypto/rand", "hash/maphash"} {
			assert.NotContains(t, imports, refused, "%s: use math/rand/v2 with a seed", f.path)
		}

		name, ok := imports["math/rand/v2"]
		if !ok {
			return
		}

		for _, use := range uses(f.ast, name) {
			if !slices.Contains(seeded, use.Sel.Name) {
				assert.Fail(t, "global randomness", "%s: %s.%s: draw from a seeded source", s.at(use.Pos()), name, use.Sel.Name)
			}
		}
	})
}

// started returns the places in a file that start a goroutine: go statements, and calls of methods and functions that
// are named for it.
func started(f *ast.File) []token.Pos {
	var found []token.Pos

	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, n.Pos())
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"AfterFunc", "Go", "TryGo"}, sel.Sel.Name) {
				found = append(found, n.Pos())
			}
		}

		return true
	})

	return found
}

// owners are the packages beside the engine whose goroutines are looked at as the engine's are.
var owners = []string{"internal/soak"}

// Goroutines are started in known places, each of which has somebody who waits.
func TestGoroutinesAreStartedInKnownPlaces(t *testing.T) {
	s := loadSource(t)
	idle := map[string]bool{}

	for name := range starters {
		idle[name] = true
	}

	look := func(f file) {
		for _, pos := range started(f.ast) {
			if _, known := starters[f.path]; !known {
				assert.Fail(t, "goroutine", "%s starts a goroutine: add its file to starters in internal/houserules/determinism_test.go, with who waits for it", s.at(pos))
			}

			delete(idle, f.path)
		}
	}

	s.eachEngineFile(look)

	for _, dir := range owners {
		for _, f := range s.packages[dir] {
			look(f)
		}
	}

	assert.Empty(t, idle, "files in the list that start no goroutine any more")
}

// Nothing runs, and nothing is made, when a package of the engine is linked: a channel, a timer or a goroutine of a
// package belongs to no bubble of a test, and to no engine.
func TestEngineHasNothingStandingByItself(t *testing.T) {
	s := loadSource(t)

	s.eachEngineFile(func(f file) {
		for _, decl := range f.ast.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil && decl.Name.Name == "init" && path.Dir(f.path) != "metrics" {
					assert.Fail(t, "init", "%s: only metrics has one, since expvar is global", s.at(decl.Pos()))
				}
			case *ast.GenDecl:
				if decl.Tok != token.VAR {
					continue
				}

				for _, pos := range channels(decl) {
					assert.Fail(t, "channel", "%s: a channel at package level", s.at(pos))
				}
			}
		}
	})
}

func channels(node ast.Node) []token.Pos {
	var found []token.Pos

	ast.Inspect(node, func(n ast.Node) bool {
		if ch, ok := n.(*ast.ChanType); ok {
			found = append(found, ch.Pos())
		}

		_, function := n.(*ast.FuncType)

		return !function
	})

	return found
}

func parse(t *testing.T, text string) *ast.File {
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.ParseComments)
	require.NoError(t, err)

	return f
}

func TestBreachesAreFound(t *testing.T) {
	f := parse(t, `package p

import (
	mr "math/rand/v2"
	"time"
)

var c = make(chan int)

func f(g interface{ Go(func()) }) {
	go f(g)
	g.Go(func() { time.Sleep(mr.N[time.Duration](1)) })
}
`)
	imports := (&file{ast: f}).imports()

	require.Equal(t, map[string]string{"math/rand/v2": "mr", "time": "time"}, imports)
	require.Len(t, started(f), 2)
	require.Len(t, uses(f, "mr"), 1)
	require.Len(t, uses(f, "time"), 2)
	require.Len(t, channels(f.Decls[1]), 1)
}

// Waiting for a condition in the state does not notice that its watch has failed, and goes on for ever then: so the engine
// does not. Its own watches are the only ones.
func TestEngineDoesNotWaitInTheState(t *testing.T) {
	s := loadSource(t)

	s.eachEngineFile(func(f file) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "WatchFor" {
				assert.Fail(t, "waits in the state", "%s: watch, and see to a watch that fails", s.at(sel.Pos()))
			}

			return true
		})
	})
}
