// Go: sync.WaitGroup Add and Done.
package main

import (
	"runtime"
	"sync"
)

func guard(threads int) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		var group, ended sync.WaitGroup
		group.Add(1)
		ended.Add(threads)
		arrived := int32(0)
		for t := 0; t < threads; t++ {
			go func() {
				meet(&arrived, threads)
				for i := uint64(0); i < n/uint64(threads); i++ {
					group.Add(1)
					group.Done()
				}
				ended.Done()
			}()
		}
		ended.Wait()
	}
}

func main() {
	run([]subject{
		{"shutdown/guard_1t", "Go WaitGroup", guard(1)},
		{"shutdown/guard_2t", "Go WaitGroup", guard(2)},
		{"shutdown/guard_untracked_1t", "Go WaitGroup", guard(1)},
		{"shutdown/guard_untracked_2t", "Go WaitGroup", guard(2)},
	})
}
