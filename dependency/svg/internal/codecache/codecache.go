// Package codecache owns where the compiled code of the Graphviz module is kept: among the caches of the user, where
// nobody else can write.
//
// The module compiles itself when a program starts that links it, and keeps the result below the directory for
// temporary files, by a name that is the same for everybody. On a system with several users, that is code of
// somebody else to run, or, if it cannot be read, a program that does not start. This package points the module to
// another place, and its import is all that there is to do: it depends on nothing but package os and comes before the
// module in the order of paths, so it is initialized first. Whoever links the module calls [Restore] when it is
// initialized itself. There is no goroutine.
package codecache

import "os"

// variable is what the module, by way of [os.TempDir], is led by.
const variable = "TMPDIR"

var before, was = os.LookupEnv(variable)

func init() {
	if err := os.Setenv(variable, place()); err != nil {
		panic(err) // the name and the value are well-formed
	}
}

// place returns a directory of the user alone, or, if there is none, a place where nothing can be kept: it takes
// about a second longer to start then.
func place() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return os.DevNull
	}

	dir += "/switchyard"

	// The module makes what is missing below, but does not care who else may write there.
	for _, made := range []string{dir, dir + "/code", dir + "/code/go-graphviz"} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return os.DevNull
		}
	}

	return dir + "/code"
}

// Restore gives the environment back as it was.
func Restore() {
	if was {
		_ = os.Setenv(variable, before) // it was there before
	} else {
		_ = os.Unsetenv(variable)
	}
}
