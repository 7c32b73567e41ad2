package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many symbolic links a path may lead over, as on Linux.
const maxLinks = 40

// Places lists the directories in which it shows that an absolute path leads to another file, or to none: the one with
// the file, and each one with a symbolic link that the path leads over. Where the path ends early, it is the last
// directory that is there. A directory shows a file replaced by another one, which a watch of the file would not.
func Places(name string) []string {
	var places []string

	at, ahead := string(filepath.Separator), split(name)

	for links := 0; len(ahead) > 0 && links <= maxLinks; {
		next := filepath.Join(at, ahead[0])
		ahead = ahead[1:]

		info, err := os.Lstat(next)

		switch {
		case err == nil && info.Mode().Type() == fs.ModeSymlink:
			places = append(places, at)
			links++

			// A link that has gone since ends the path, and the directory is watched.
			target, _ := os.Readlink(next)
			if filepath.IsAbs(target) {
				at = string(filepath.Separator)
			}

			ahead = append(split(target), ahead...)
		case err != nil || len(ahead) == 0:
			places = append(places, at)
			ahead = nil
		default:
			at = next
		}
	}

	slices.Sort(places)

	return slices.Compact(places)
}

// split returns the names in a path.
func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == filepath.Separator })
}
