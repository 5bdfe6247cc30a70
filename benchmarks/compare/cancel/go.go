// Go: context.WithCancel.
package main

import (
	"context"
	"runtime"
)

var sink error

func isCancelled(n uint64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for i := uint64(0); i < n; i++ {
		sink = ctx.Err()
	}
}

func child(siblings int) func(n uint64) {
	return func(n uint64) {
		parent, end := context.WithCancel(context.Background())
		defer end()
		for i := 0; i < siblings; i++ {
			_, cancel := context.WithCancel(parent)
			defer cancel()
		}
		for i := uint64(0); i < n; i++ {
			_, cancel := context.WithCancel(parent)
			cancel()
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	run([]subject{
		{"tree/is_cancelled", "Go context", isCancelled},
		{"tree/child", "Go context", child(0)},
		{"tree/child_of_1000", "Go context", child(1000)},
	})
}
