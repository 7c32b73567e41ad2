package apply

import (
	"fmt"

	"go.yaml.in/yaml/v4"
)

// unique finds names that are given twice in a group of fields, and in all groups within it. The library would compare each with each:
// a few thousand names in a short text would keep it busy for minutes. What an alias stands for is looked at where it is.
func (r *reader) unique(node *yaml.Node, path string) {
	switch node.Kind {
	case yaml.MappingNode:
		first := make(map[string]int, len(node.Content)/2)

		for i := 0; i+1 < len(node.Content); i += 2 {
			key, field := node.Content[i], join(path, node.Content[i].Value)

			if key.Kind == yaml.ScalarNode {
				if line, ok := first[key.Value]; ok {
					r.fault(key, field, fmt.Sprintf("is there twice, first in line %d", line))
				} else {
					first[key.Value] = key.Line
				}
			}

			r.unique(node.Content[i+1], field)
		}
	case yaml.SequenceNode:
		for i, item := range node.Content {
			r.unique(item, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}
