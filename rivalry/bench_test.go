package rivalry_test

import (
	"fmt"
	"testing"

	"github.com/cosi-project/runtime/pkg/resource"

	"github.com/switchyard-run/switchyard/rivalry"
)

// What a write costs beside the write itself.
func BenchmarkWrite(b *testing.B) {
	const many = 10_000

	things := make([]*thing, many)
	for i := range things {
		things[i] = newThing(fmt.Sprint("thing-", i), i)
		things[i].Metadata().SetVersion(version(2))
	}

	first := version(1)

	write := func(w *rivalry.Writer, res resource.Resource) {
		call := w.Write(res.Metadata())
		call.OnTopOf(first)
		call.Made(res)
		call.End()
	}

	for name, turn := range map[string]func(i int) (writer, thing int){
		"one writer":          func(i int) (int, int) { return 0, i % many },
		"one resource":        func(int) (int, int) { return 0, 0 },
		"by turns":            func(i int) (int, int) { return i % 2, 0 },
		"by turns, everybody": func(i int) (int, int) { return i % 2, i / 2 % many },
	} {
		b.Run(name, func(b *testing.B) {
			f := newBench()
			writers := []*rivalry.Writer{f.writer("a"), f.writer("b")}

			for i := 0; b.Loop(); i++ {
				writer, thing := turn(i)
				things[thing].TypedSpec().Size = i
				write(writers[writer], things[thing])
			}
		})
	}

	b.Run("nobody asks", func(b *testing.B) {
		for b.Loop() {
			write(nil, things[0])
		}
	})

	b.Run("beside a rivalry", func(b *testing.B) {
		f := newBench()
		f.fight("a", 1000, 0)

		for i := 0; b.Loop(); i++ {
			write(f.writer("left"), things[i%many])
		}
	})
}
