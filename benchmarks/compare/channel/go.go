// Go: two goroutines, channels of capacity 1 (ping-pong) and 64 (stream).
package main

import "runtime"

func pingPong(threads int) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		there, back := make(chan uint64, 1), make(chan uint64, 1)
		go func() {
			for i := uint64(0); i < n/2; i++ {
				back <- <-there
			}
		}()
		for i := uint64(0); i < n/2; i++ {
			there <- i
			<-back
		}
	}
}

func stream(threads int) func(n uint64) {
	return func(n uint64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		pipe := make(chan uint64, 64)
		go func() {
			for i := uint64(0); i < n; i++ {
				pipe <- i
			}
		}()
		for i := uint64(0); i < n; i++ {
			<-pipe
		}
	}
}

func main() {
	run([]subject{
		{"sync/channel_ping_pong_1t", "Go channel", pingPong(1)},
		{"sync/channel_ping_pong_2t", "Go channel", pingPong(2)},
		{"sync/channel_stream_1t", "Go channel", stream(1)},
		{"sync/channel_stream_2t", "Go channel", stream(2)},
	})
}
