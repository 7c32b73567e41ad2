package controllertest

import (
	"fmt"
	"reflect"
)

// cast are the controllers of the last two lives of a test, by their pointers. One that plays in both remembers what the
// process before has known, and so a crash of that takes less from it than it should.
//
// It is used by one goroutine at a time: that of the world, and the script's while nothing else moves.
type cast struct {
	before, now map[any]struct{}
}

// next begins another life.
func (c *cast) next() { c.before, c.now = c.now, map[any]struct{}{} }

// enter takes in a controller.
func (c *cast) enter(ctrl any, name string) error {
	if v := reflect.ValueOf(ctrl); v.Kind() != reflect.Pointer || v.IsNil() || v.Type().Elem().Size() == 0 {
		return nil // it can remember nothing by itself
	}

	if _, again := c.before[ctrl]; again {
		return fmt.Errorf("controllertest: controller %q is the very value that was registered in the process before, and remembers it: "+
			"make a new one in the function that Start is given", name)
	}

	c.now[ctrl] = struct{}{}

	return nil
}
