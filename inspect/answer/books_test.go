package answer_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/switchyard-run/switchyard/cause"
	"github.com/switchyard-run/switchyard/inspect/answer"
)

// counting is an engine whose book says how many were begun, and that counts how many are made at once.
type counting struct {
	plain

	begun, making, most atomic.Int64
}

func (c *counting) Book() *cause.Book {
	number := c.begun.Add(1)

	if making := c.making.Add(1); making > c.most.Load() {
		c.most.Store(making)
	}

	defer c.making.Add(-1)

	return cause.NewBook(map[string][]cause.Pass{fmt.Sprint(number): nil}, nil, nil)
}

// However many ask, one book is made at a time, and each has what had happened when it was asked for.
func TestBooksAreMadeOneAtATime(t *testing.T) {
	engine := &counting{}
	a := answer.New(answer.Config{Engine: engine})

	var all sync.WaitGroup

	for range 16 {
		all.Go(func() {
			for range 200 {
				before := engine.begun.Load()

				var number int64

				_, err := fmt.Sscan(a.Book().Controllers()[0], &number)
				assert.NoError(t, err)
				assert.Greater(t, number, before)
			}
		})
	}

	all.Wait()
	assert.EqualValues(t, 1, engine.most.Load())
}
