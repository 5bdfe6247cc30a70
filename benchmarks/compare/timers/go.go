// Go: AfterFunc and Stop, with none or 10 000 others pending.
package main

import (
	"runtime"
	"time"
)

func armCancel(pending int) func(n uint64) {
	for i := 0; i < pending; i++ {
		time.AfterFunc(time.Hour+time.Duration(i)*time.Millisecond, func() {})
	}
	return func(n uint64) {
		for i := uint64(0); i < n; i++ {
			time.AfterFunc(time.Hour, func() {}).Stop()
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	run([]subject{
		{"runtime/timer_arm_cancel", "Go AfterFunc", func(n uint64) { armCancel(0)(n) }},
		{"runtime/timer_arm_cancel_10k", "Go AfterFunc", pendingFirst()},
	})
}

// The pending timers are made once, when the case first runs.
func pendingFirst() func(n uint64) {
	var body func(n uint64)
	return func(n uint64) {
		if body == nil {
			body = armCancel(10000)
		}
		body(n)
	}
}
