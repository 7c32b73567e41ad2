package answer

import (
	"sync"

	"github.com/switchyard-run/switchyard/cause"
)

// books makes books of an engine: one at a time, and one for all who ask while another is made. A book of many controllers is large,
// and whoever asks too often should not have the host keep one for each question.
type books struct {
	engine Engine

	// making is held while a book is made. It guards what is in the copies.
	making sync.Mutex
	// mu guards next, the copy that is to be made after the present one, or nil.
	mu   sync.Mutex
	next *edition
}

// edition is a book for those who have asked before it was begun.
type edition struct{ book *cause.Book }

// Book returns the passes that are remembered now. Those who ask while a book is made share the next one.
func (a *Answers) Book() *cause.Book { return a.books.now() }

// now returns a book that was begun after the call, so that it has all that has happened before.
func (b *books) now() *cause.Book {
	b.mu.Lock()

	if b.next == nil {
		b.next = &edition{}
	}

	e := b.next
	b.mu.Unlock()

	b.making.Lock()
	defer b.making.Unlock()

	if e.book == nil {
		b.mu.Lock()
		b.next = nil // it is e: who asks from now on waits for the one after
		b.mu.Unlock()

		e.book = b.engine.Book()
	}

	return e.book
}
